"""Definitions of benchmarks, a folder each, and their readers: items, labels, baselines."""
