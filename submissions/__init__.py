"""Submissions: from an uploaded file to a queued job; REST, pages, command line."""
