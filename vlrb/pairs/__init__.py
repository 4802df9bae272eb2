"""Benchmarks that are files of labelled pairs: labels, items, published overall scores."""
