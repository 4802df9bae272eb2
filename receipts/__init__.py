"""Receipts: signed statements of accepted submissions and their scores, and their verification."""
