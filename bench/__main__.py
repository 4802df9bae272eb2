"""`make bench`: every figure of docs/performance.md beside its peer, in one run."""

from itertools import chain

from bench import board, growth, scoring
from bench.measure import print_table

if __name__ == "__main__":
    print_table(chain(scoring.figures(), board.figures()))
    print()
    for line in growth.lines(growth.SIZES):
        print(line, flush=True)
