"""Use cases of maintainers and annotators, one module per subject."""
