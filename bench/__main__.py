"""`make bench`: every figure of docs/performance.md beside its peer, in one run."""

from itertools import chain

from bench import board, scoring
from bench.measure import print_table

if __name__ == "__main__":
    print_table(chain(scoring.figures(), board.figures()))
