"""Processes of the suite: what they share, and what tests leave behind."""
