"""Rows, ranks and columns of a board, and what a query string asks of it."""
