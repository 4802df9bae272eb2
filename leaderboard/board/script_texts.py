"""Sentences of board.js."""

from __future__ import annotations

from collections.abc import Mapping

from common.script_texts import script_texts
from vlrb.common.messages import _, ngettext
from vlrb.common.translations import Translations

SENTENCES = (
    _("There is no field {name}. Fields: {fields}."),
    _("The field {name} takes a number, such as {name}:>5."),
    _("The field {name} has no value {wanted}. Values: {known}."),
    _(" or "),
    _("95% interval {low}–{high}"),
    _("shares first place"),
    _("could share rank {rank}"),
    _("No judge matches this search."),
    _("reported"),
    _("Show all"),
    _("Compare {n}"),
    _("Compare with others"),
    _("The rows could not be loaded. Check the connection and try again."),
    _("{span} of {judges}"),
    _("{n} pinned"),
    _(", "),
    _("pin"),
    _("unpin"),
    _("pin {model}"),
    _("unpin {model}"),
    _("compare {model}"),
)
_REPORTS = ngettext("{n} other report", "{n} other reports", 1)
PLURALS = (
    (
        "{n} scored judge that does not state its {what} is shown:",
        "{n} scored judges that do not state their {what} are shown:",
    ),
    ("{n} scored judge does not state its {what}:", "{n} scored judges do not state their {what}:"),
    ("hide it", "hide them"),
    ("show it", "show them"),
    ("{n:,} judge", "{n:,} judges"),
    ("{n:,} baseline", "{n:,} baselines"),
    (_REPORTS.msgid, _REPORTS.plural),
)  # fmt: skip


def board_texts(of: Translations) -> Mapping[str, str]:
    """Return English sentence -> translation; nothing in English."""
    return script_texts(of, SENTENCES, plurals=PLURALS)


def counted(selection_span: str, judges: int, *, baselines: int, pinned: int) -> list[str]:
    """Return how much was found, in parts."""
    judged = ngettext("{n:,} judge", "{n:,} judges", judges)
    parts: list[str] = [_("{span} of {judges}", span=selection_span, judges=judged) if selection_span else judged]
    parts += [ngettext("{n:,} baseline", "{n:,} baselines", baselines)] if baselines else []
    return [*parts, _("{n} pinned", n=pinned)] if pinned else parts
