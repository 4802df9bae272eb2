"""Tabs of the Gradio maintain page."""
