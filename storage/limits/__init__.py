"""Limits of use: quota grants, sliding windows, shared rates, pauses."""
