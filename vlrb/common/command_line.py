"""Command lines in the language of the terminal: help, errors and sentences. English leaves argparse as it is.

Only what people read is translated; JSON, names and ids are printed as they are.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from vlrb.common.messages import Message, _

if TYPE_CHECKING:
    from vlrb.common.translations import Translations

ENGLISH = "en"
INTERRUPTED = 130  # as a shell tells of Ctrl-C
MISUSED = 2
_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set decides
_PROJECT = Path(__file__).parents[2]
_FULL_WIDTH = "WF"  # characters that take two columns of a terminal
ARGPARSE = (
    _("argument {name}: {problem}", name="", problem=""),
    _("usage: "),
    _("options"),
    _("positional arguments"),
    _("show this help message and exit"),
    _("the following arguments are required: {names}", names=""),
    _("unrecognized arguments: {names}", names=""),
    _("one of the arguments {names} is required", names=""),
    _("not allowed with argument {other}", other=""),
    _("expected one argument"),
    _("expected at least one argument"),
    _("invalid choice: {value} (choose from {choices})", value="", choices=""),
    _("invalid {kind} value: {value}", kind="", value=""),
    _("ambiguous option: {option} could match {options}", option="", options=""),
)
"""What argparse says by itself, as plain text: it is found by what stands between the values."""


class CommandError(Exception):
    """A command cannot go on; the message says what was seen and what to do."""


def language_of(variables: Mapping[str, str]) -> str:
    """Return the language that the environment of a terminal asks for; English where there is none of it."""
    asked = next((value for name in _VARIABLES if (value := variables.get(name))), "")
    tag = asked.partition(".")[0].partition("@")[0]
    if tag in ("", "C", "POSIX") or tag.lower().startswith(ENGLISH):
        return ENGLISH
    from vlrb.common.translations import languages, preferred  # 0.1 s, which English need not pay

    return preferred(tag, languages())


def spoken() -> Translations | None:
    """Return the sentences of the terminal's language; None is English."""
    language = language_of(os.environ)
    if language == ENGLISH:
        return None
    from vlrb.common.translations import translations

    return translations(language)


def translated(text: str) -> str:
    """Return a message as the terminal shows it; a plain string as it is."""
    of = spoken()
    return text if of is None else of.text(text)


def lines(texts: Iterable[str]) -> str:
    """Return the lines of a report as the terminal shows them."""
    return "\n".join(map(translated, texts))


def say(text: object, *, file: IO[str] | None = None, flush: bool = False) -> None:
    """Print a sentence in the language of the terminal."""
    print(translated(str(text)), file=file or sys.stdout, flush=flush)


def complain(text: object) -> None:
    """Print a sentence to standard error, in the language of the terminal."""
    say(text, file=sys.stderr)


def exit_code(command: Callable[[], int]) -> int:
    """Run a command; returns its exit code. Ctrl-C, and a reader that wants no more, as `head`, end it quietly;
    a package that only some commands need and that is not installed is named.

    The command imports what it needs, so that Ctrl-C during an import ends it quietly, too.
    """
    try:
        try:
            return command()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to flush into at the end
        return 0
    except KeyboardInterrupt:
        complain(_("Interrupted."))
        return INTERRUPTED
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if (_PROJECT / package).exists() or (_PROJECT / f"{package}.py").exists():
            raise  # a fault of ours, no missing package
        complain(
            _(
                'The package {name} is not installed. `pip install "vlrb[judge,editions,parquet]"` installs what every '
                "command needs; in a clone, `make dev`.",
                name=package,
            )
        )
        return MISUSED


class CommandParser(argparse.ArgumentParser):
    """An ArgumentParser whose help and errors are in the language of the terminal."""

    def __init__(self, *values: Any, **options: Any) -> None:
        if spoken() is not None:
            options.setdefault("formatter_class", argparse.RawTextHelpFormatter)  # Chinese has no blanks to wrap at
        super().__init__(*values, **options)

    def format_help(self) -> str:
        """Return the help, with its texts looked up."""
        if (of := spoken()) is None:
            return super().format_help()
        choosing = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        for action in (*self._actions, *(choice for one in choosing for choice in one._choices_actions)):
            action.help = action.help and of.known(action.help)
        for group in self._action_groups:
            group.title, group.description = (text and of.known(text) for text in (group.title, group.description))
        self.description, self.epilog = (text and of.known(text) for text in (self.description, self.epilog))
        return super().format_help().replace("usage: ", of.pattern("usage: "), 1)

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and where help is, and exit with 2. The usage would hide the sentence below 15 lines."""
        complain(_("{prog}: error: {message}", prog=self.prog, message=_problem(message)))
        complain(_("Run {prog} --help to see the options.", prog=self.prog))
        self.exit(2)


def _problem(message: str) -> str:
    """Return what argparse complains about as a message."""
    for known in () if isinstance(message, Message) else ARGPARSE:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(known.msgid))
        if found := re.fullmatch(pattern, message, re.S):
            return _(known.msgid, **{name: _problem(value) for name, value in found.groupdict().items()})
    return message


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(character) in _FULL_WIDTH else 1 for character in text)
