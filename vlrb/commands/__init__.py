"""Commands of `vlrb`: a dry run, an offline score, the check of published figures."""
