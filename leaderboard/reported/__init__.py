"""Published figures, checked; the number check."""
