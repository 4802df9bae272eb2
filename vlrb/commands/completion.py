"""Command `vlrb completion`: a script that completes commands and options in a shell."""

from __future__ import annotations

import argparse

from vlrb.common.command_line import CommandParser
from vlrb.common.messages import _

_SCRIPT = """\
_vlrb() {
  local words
  words=$("${COMP_WORDS[@]:0:COMP_CWORD}" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+|^    [a-z]+ ' | sort -u)
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _vlrb vlrb"""


def run(arguments: list[str]) -> int:
    """Run `vlrb completion`; returns the exit code."""
    command_line().parse_args(arguments)
    print(_SCRIPT)
    return 0


def command_line() -> argparse.ArgumentParser:
    """Return the options of the command."""
    about = _("print what completes commands and options in bash, and in zsh after bashcompinit")
    return CommandParser(prog="vlrb completion", description=about)
