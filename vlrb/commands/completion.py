"""Command `vlrb completion`: a script that completes commands and options in a shell."""

from __future__ import annotations

import argparse

_SCRIPT = """\
_vlrb() {
  local words
  words=$("${COMP_WORDS[@]:0:COMP_CWORD}" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+|^    [a-z]+ ' | sort -u)
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _vlrb vlrb"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add none."""


def run(options: argparse.Namespace) -> int:
    """Print the script. Returns the exit code."""
    print(_SCRIPT)
    return 0
