"""Sentences of annotate.js."""

from __future__ import annotations

from vlrb.common.messages import _

SENTENCES = (
    _("This pair is not one of those that you decide."),
    _("There are pairs 1 to {items}."),
    _("This pair has as many answers as it needs. Answer another pair."),
    _("Every pair of this project has as many answers as it needs."),
    _("The server answers {status}."),
    _("Try again"),
    _("This pair could not be loaded. {reason}"),
    _("This server does not have the texts of this pair: the setting ITEMS_FILE names a file with them."),
    _("by {model}"),
    _("In this text, Answer 1 is the first response here."),
    _("In this text, Answer 1 is the second response here."),
    _("We do not know which response this text calls Answer 1."),
    _("Your first answer stays on record: {answer}."),
    _("You may still change your decision."),
    _("You may still change your answer. The first one stays on record."),
    _("{done} of {all} decided"),
    _("{done} of {all} answered"),
    _("Saving …"),
    _("Not saved"),
    _("Saved"),
    _("Your answer is not saved. {reason}"),
    _("This project has no disagreement for you to decide."),
    _("The project could not be loaded. {reason}"),
)
