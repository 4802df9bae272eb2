"""Sentences of the pages' scripts in other languages than English; a script has the English ones itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vlrb.common.messages import Message
from vlrb.common.translations import ENGLISH, Translations


def script_texts(
    of: Translations, sentences: Iterable[Message], *, plurals: Iterable[tuple[str, str]] = ()
) -> Mapping[str, str]:
    """Return English sentence -> translation; nothing in English. `plurals`: the sentences for one and for several."""
    if of.language == ENGLISH:
        return {}
    counts = {
        text: of.pattern(singular, plural, count=1 + place)
        for singular, plural in plurals
        for place, text in enumerate((singular, plural))
    }
    return {text.msgid: of.pattern(text.msgid) for text in sentences} | counts
