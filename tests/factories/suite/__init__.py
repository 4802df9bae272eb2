"""Plugins and helpers of the test run: what its processes share, and what tests leave behind."""
