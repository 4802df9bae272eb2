"""The Gradio page for submitting, and its use cases."""
