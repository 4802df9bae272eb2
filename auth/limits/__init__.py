"""Limits on requests: rates of addresses and accounts."""
