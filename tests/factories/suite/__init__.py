"""How the suite runs: what its processes share, and what tests leave behind."""
