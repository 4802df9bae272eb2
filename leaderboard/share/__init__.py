"""Shared formats: citations, badges, pictures, feed, API reference, exports."""
