"""Catalogues of translations: `vlrb/locale/<language>/LC_MESSAGES/messages.po`, read where they are first needed.

A language is one such file. English is the language of the sources and has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from vlrb.common.messages import Message

LOCALES = Path(__file__).parents[1] / "locale"
_EDGE = "\0"
_HAN = "[\u4e00-\u9fff]"
_BETWEEN_HAN = re.compile(
    rf"(?<={_HAN}) (?={_EDGE}{_HAN})|(?<={_HAN}{_EDGE}) (?={_HAN})|(?<=[。！？]{_EDGE}) (?={_EDGE})"
)
"""The blank around a value, where words of a language without blanks stand on both sides, and between sentences."""
DOMAIN = "LC_MESSAGES/messages.po"
ENGLISH = "en"


@dataclass(frozen=True, slots=True, eq=False)
class Translations:
    """The sentences of one language. `language` is a BCP 47 tag; what is not in the catalogue stays English."""

    language: str = ENGLISH
    catalogue: NullTranslations = field(default_factory=NullTranslations)

    def pattern(self, singular: str, plural: str = "", *, count: int | None = None) -> str:
        """Return the translation of a msgid, without its values."""
        if count is not None and plural:
            return self.catalogue.ngettext(singular, plural, count)
        return self.catalogue.gettext(singular) if singular else ""  # gettext has the catalogue's head there

    def text(self, text: str) -> str:
        """Return a message in this language; a plain string as it is."""
        if not isinstance(text, Message) or self.language == ENGLISH:
            return text
        pattern = self.pattern(text.msgid, text.plural, count=text.number)
        if not text.values:
            return pattern
        filled = pattern.format_map({name: self._marked(value) for name, value in text.values.items()})
        return _BETWEEN_HAN.sub("", filled).replace(_EDGE, "")

    def _marked(self, value: object) -> object:
        """Return a value; one that is a message, and no name of somebody's, between two marks."""
        return f"{_EDGE}{self.text(value)}{_EDGE}" if isinstance(value, Message) else value

    def known(self, text: str) -> str:
        """Return the translation of a text of the program that is no `Message`, such as a title in a definition."""
        return self.text(text) if isinstance(text, Message) else self.pattern(text)


@lru_cache(maxsize=32)
def translations(language: str, folder: Path = LOCALES) -> Translations:
    """Return the sentences of a language, read once: they are part of the program. Fuzzy ones are not used."""
    if language == ENGLISH:
        return Translations()
    compiled = BytesIO()
    with (folder / language.replace("-", "_") / DOMAIN).open("rb") as file:
        write_mo(compiled, read_po(file))
    compiled.seek(0)
    return Translations(language, GNUTranslations(compiled))


@lru_cache(maxsize=4)
def languages(folder: Path = LOCALES) -> Mapping[str, str]:
    """Language tag -> its own name, English first."""
    tags = sorted(path.parents[1].name.replace("_", "-") for path in folder.glob(f"*/{DOMAIN}"))
    return MappingProxyType(
        {tag: str(Locale.parse(tag, sep="-").language_name or tag).capitalize() for tag in [ENGLISH, *tags]}
    )


def preferred(accepted: str, known: Mapping[str, str]) -> str:
    """Return the first language of an Accept-Language header (or LANG) that is known; English without one. Browsers
    write what they like best first."""
    tags = [re.split("[-_;]", part.strip().lower())[0] for part in accepted[:1000].split(",")]
    return next((one for tag in tags for one in known if one.lower().partition("-")[0] == tag), ENGLISH)
