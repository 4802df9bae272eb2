"""Errors that end a command with a sentence."""

from __future__ import annotations


class JudgeError(Exception):
    """The command cannot go on; the message says why and what to do."""
