"""The web process: application factory, services, middleware, error handlers, Gradio, start-up."""
