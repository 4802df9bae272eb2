"""Maintenance: use cases, REST, command line and page of maintainers."""
