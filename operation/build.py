"""Version of this build."""

BUILD = "0.1.0"
"""As in pyproject.toml; a test holds that."""
