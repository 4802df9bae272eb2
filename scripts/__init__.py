"""Commands that write what the repository derives from its code, and check it."""
