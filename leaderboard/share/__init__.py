"""Shared formats: citations, badges, pictures, feed, Hub results, llms.txt, API reference, exports."""
