"""The page of figures."""
