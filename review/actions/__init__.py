"""Use cases of maintainers, annotators and adjudicators, one module per subject."""
