"""Catalogues of translations: `vlrb/locale/<language>/LC_MESSAGES/messages.po`, read where they are first needed.

A language is one such file. English is the language of the sources and has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from gettext import c2py
from pathlib import Path
from types import MappingProxyType

from babel import Locale
from babel.messages.pofile import read_po

from vlrb.common.messages import Message

LOCALES = Path(__file__).parents[1] / "locale"
_EDGE = "\0"
_BETWEEN_HAN = re.compile(
    rf"(?<=[\u4e00-\u9fff]) (?={_EDGE}[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff]{_EDGE}) (?=[\u4e00-\u9fff])"
)
"""The blank around a value, where words of a language without blanks stand on both sides."""
DOMAIN = "LC_MESSAGES/messages.po"
ENGLISH = "en"


@dataclass(frozen=True, slots=True, eq=False)
class Translations:
    """The sentences of one language. `language` is a BCP 47 tag; what is not in the catalogue stays English."""

    language: str = ENGLISH
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    form_of: Callable[[int], int] = lambda count: int(count != 1)

    def pattern(self, singular: str, plural: str = "", *, count: int | None = None) -> str:
        """Return the translation of a msgid, without its values."""
        forms = self.texts.get(singular)
        if forms is None:
            return plural if count is not None and count != 1 else singular
        form = self.form_of(count) if count is not None and len(forms) > 1 else 0
        return forms[min(form, len(forms) - 1)]

    def text(self, text: str) -> str:
        """Return a message in this language; a plain string as it is."""
        if not isinstance(text, Message) or not self.texts:
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


_ENGLISH = Translations()


@lru_cache(maxsize=32)
def translations(language: str, folder: Path = LOCALES) -> Translations:
    """Return the sentences of a language, read once: they are part of the program. Fuzzy ones are not used."""
    if language == ENGLISH:
        return _ENGLISH
    with (folder / language.replace("-", "_") / DOMAIN).open("rb") as file:
        catalog = read_po(file)
    texts: dict[str, tuple[str, ...]] = {}
    for message in catalog:
        forms = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
        if message.id and forms and all(forms) and not message.fuzzy:
            texts[message.id if isinstance(message.id, str) else message.id[0]] = forms
    return Translations(language, MappingProxyType(texts), form_of=c2py(catalog.plural_expr))


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
