"""Maintenance: use cases, REST, command line and Gradio page of maintainers."""
