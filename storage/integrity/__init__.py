"""Audit chain, its checkpoints, the comparison of stored rows with it, row commitments, receipt keys."""
