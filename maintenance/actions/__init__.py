"""Use cases of maintainers, one module per subject."""
