"""Limits on requests and sign-ins: rates of addresses and accounts, shared among processes; failed logins."""
