"""Published boards: snapshots, relations, their series of differences and their thinning."""
