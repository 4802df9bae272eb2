"""Sentences of annotate.js."""

from __future__ import annotations

from vlrb.common.messages import _

SENTENCES = (
    _("There are pairs 1 to {items}."),
    _("This pair has as many answers as it needs. Answer another pair."),
    _("Every pair of this project has as many answers as it needs."),
    _("The server answers {status}."),
    _("Try again"),
    _("This pair could not be loaded. {reason}"),
    _("This server does not have the texts of this pair: the setting ITEMS_FILE names a file with them."),
    _("{done} of {all} answered"),
    _("Saving …"),
    _("Not saved"),
    _("Saved"),
    _("Your answer is not saved. {reason}"),
    _("The project could not be loaded. {reason}"),
)
