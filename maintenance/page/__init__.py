"""Maintain page: plain HTML forms of the registered actions, and the views of their results."""
