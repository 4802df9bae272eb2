"""Small helpers of the library, without a database or a web framework: text, rounding, JSON, atomic files, messages."""
