"""Jobs of the worker: score, re-score, activate a revision, import labels, snapshots, statistics."""
