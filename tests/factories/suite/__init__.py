"""The run of the suite: what its processes share, and what tests leave behind."""
