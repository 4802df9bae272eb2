"""Runs of a judge: from an endpoint, a scorer or batch files to a file of predictions."""
