"""ASGI middleware: header limits, security headers, request limits, Gradio allowlist."""
