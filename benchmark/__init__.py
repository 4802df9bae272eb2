"""Core of the benchmark: items, labels, votes, scores, statistics. Pure: standard library, numpy, scipy."""
