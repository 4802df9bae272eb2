"""Sentences of submit.js."""

from __future__ import annotations

from vlrb.common.messages import _

SENTENCES = (
    _("Upload"),
    _("Uploading {name}: {share}% of {size}"),
    _("Checking {name} ({size})…"),
    _("The upload was interrupted."),
    _("Submitting…"),
    _("Click to upload or drop files"),
    _("File upload"),
)
