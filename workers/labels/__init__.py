"""Label sets: loading from files or the Hub, and the worker's own store."""
