"""Published boards: snapshots, relations, and their series of differences."""
