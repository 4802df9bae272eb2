"""Plotly charts of one judge and of the whole board."""
