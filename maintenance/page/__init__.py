"""Gradio page of the maintainers: layout, forms of the registered actions, rows of tables and their texts."""
