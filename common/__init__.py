"""Helpers of the service that every package may import: deltas, logging, OpenAPI."""
