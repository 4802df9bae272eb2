"""What a board is: its rows, ranks, columns, and what a query string asks of it."""
