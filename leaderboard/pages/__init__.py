"""Pages beside the board: number check, comparison, item browser, about, decisions, red team."""
