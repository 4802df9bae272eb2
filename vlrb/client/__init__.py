"""Commands that ask a service, and the check of its receipts."""
