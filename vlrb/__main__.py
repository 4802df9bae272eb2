"""`python -m vlrb`, where the command `vlrb` is not installed."""

from __future__ import annotations

import sys

from vlrb.cli import main

if __name__ == "__main__":
    sys.exit(main())
