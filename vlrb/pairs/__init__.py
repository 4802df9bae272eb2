"""Benchmarks that are files of labelled pairs: labels, recognition of files, scoring, published overall scores."""
