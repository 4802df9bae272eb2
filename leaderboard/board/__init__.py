"""The board: rows, ranks, columns, filters, search, redaction and reported results."""
