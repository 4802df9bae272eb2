"""Prediction files: parsing, matching to the items of a benchmark, and reports of problems. No database, no label."""
