"""The front page: page and JSON of the board, and its fast path."""
