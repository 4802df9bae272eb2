"""The HTTP boundary: ASGI middleware around the application."""
