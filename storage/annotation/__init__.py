"""Annotation projects and disputes."""
