"""`make bench`: every figure of docs/performance.md beside its peer, in one run; with --long also growth to 50,000."""

import sys
from itertools import chain

from bench import board, growth, scoring
from bench.measure import print_table

if __name__ == "__main__":
    print_table(chain(scoring.figures(), board.figures()))
    print()
    for line in growth.lines(growth.LONG if "--long" in sys.argv[1:] else growth.SIZES):
        print(line, flush=True)
