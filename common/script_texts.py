"""Sentences of the pages' scripts in other languages than English; a script has the English ones itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vlrb.common.messages import Message
from vlrb.common.translations import ENGLISH, Translations


def script_texts(of: Translations, sentences: Iterable[Message]) -> Mapping[str, str]:
    """Return English sentence -> translation; nothing in English."""
    return {} if of.language == ENGLISH else {text.msgid: of.pattern(text.msgid) for text in sentences}
