"""Limits of use: sliding windows, shared rates, pauses."""
