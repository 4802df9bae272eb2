"""Translation of Jinja templates: `{% trans %}`, `_()`, and messages that a template shows."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from vlrb.common.messages import Message
from vlrb.common.translations import ENGLISH, Translations


def translate_templates(environment: Environment, of: Translations) -> None:
    """Show the templates of an environment in a language.

    `{% trans %}` is markup with escaped values. `{{ _(text) }}` is a text of the program: a constant, a title of a
    definition, or a `Message`. Every `Message` that is output is translated without further ado.
    """

    def gettext(message: str, /, **values: Any) -> Markup:
        return _filled(of, of.pattern(message), values=values)

    def ngettext(singular: str, plural: str, /, num: int, **values: Any) -> Markup:
        return _filled(of, of.pattern(singular, plural, count=num), values={"num": num, **values})

    def known(text: str, /, **values: Any) -> str:
        pattern = of.known(text)
        return pattern % {name: of.text(value) for name, value in values.items()} if values else pattern

    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    environment.newstyle_gettext = True  # type: ignore[attr-defined]  # set by the extension
    environment.globals |= {
        "gettext": gettext,
        "ngettext": ngettext,
        "_": known,
        "language": of.language,
    }
    if of.language != ENGLISH:
        environment.finalize = lambda value: of.text(value) if isinstance(value, Message) else value


def _filled(of: Translations, pattern: str, *, values: dict[str, Any]) -> Markup:
    """Return markup of the program with values, which are escaped."""
    return Markup(pattern) % {name: of.text(value) for name, value in values.items()}  # noqa: S704 (of the catalogue)
