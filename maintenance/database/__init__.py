"""SQL of the maintenance use cases."""
