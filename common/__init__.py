"""Small helpers without a database or a web framework: text, rounding, canonical JSON, atomic files, logging."""
