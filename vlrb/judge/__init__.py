"""Runs of a judge: from an endpoint, a scorer or batch files to a file of predictions."""


class JudgeError(Exception):
    """The command cannot go on; the message says why and what to do."""
