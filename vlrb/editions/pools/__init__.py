"""Pools of preference pairs: their import, their images, and the pairs that other sets have already."""
