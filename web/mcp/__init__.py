"""Read-only MCP endpoint: tools for assistants, each answered by the REST API."""
