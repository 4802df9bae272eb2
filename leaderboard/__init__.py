"""Public pages and JSON: the board, entries, charts, exports."""
