"""Catalogues of translations in `vlrb/locale/`, which `python -m scripts.generated` brings up to date.

Sentences come from `_()` and `ngettext()` in the code, `{% trans %}` and `_()` in templates, and titles in
definitions of benchmarks. New ones are added without a translation, those that are gone are removed.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

from scripts.declared_texts import declared_texts
from vlrb.common.translations import DOMAIN, LOCALES

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "auth", "common", "leaderboard", "maintenance", "operation", "receipts", "review", "settings", "storage",
    "submissions", "vlrb", "web", "workers",
)  # fmt: skip
_KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2), "JudgeError": None, "RunStopped": None}
_CALL = re.compile(rb"\b(?:_|n?gettext|JudgeError|RunStopped)\(")
_OPTIONS = {"trimmed": "true", "newstyle_gettext": "true", "silent": "false"}
_DATES = re.compile(
    rb'"(POT-Creation-Date|PO-Revision-Date|Last-Translator|Generated-By|Language-Team|Report-Msgid-Bugs-To)[^\n]*\n'
)
_TRANSLATED = (*PACKAGES, "app.py")
Extracted = tuple[str, str | tuple[str, ...], list[str]]


def template() -> Catalog:
    """Return all sentences that can be translated, without translations."""
    catalog = Catalog(charset="utf-8")
    for path, message, comments in _extracted():
        places: Any = [(path, None)]  # without a line, so that a catalogue changes with its sentences alone
        catalog.add(message, locations=places, auto_comments=comments)
        if entry := catalog.get(message):
            entry.flags.clear()  # a test compares the values that are named, in either style
    return catalog


def _extracted() -> Iterator[Extracted]:
    for package in _TRANSLATED:
        folder = ROOT / package
        for path in sorted([folder] if folder.is_file() else folder.rglob("*")):
            if path.suffix not in (".py", ".html") or "definitions" in path.parts:
                continue
            name, source = path.relative_to(ROOT).as_posix(), path.read_bytes()
            if path.suffix == ".py":
                yield from ((name, message, []) for message in of_python(source))
                continue
            messages = extract("jinja2.ext:babel_extract", io.BytesIO(source), _KEYWORDS, (), _OPTIONS)
            for _line, message, comments, _context in messages:
                if message:
                    yield name, message if isinstance(message, str) else tuple(message), list(comments)
    for name, text in declared_texts():
        yield name, text, []


def of_python(source: bytes) -> Iterator[str | tuple[str, ...]]:
    """Yield what is translated in a Python file, in its order.

    Not by Babel's reader: it leaves out calls within others, `_("the {name}", name=_(name))`, and within f-strings.
    """
    if not _CALL.search(source):
        return
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        if isinstance(call.func, ast.Name) and call.func.id in _KEYWORDS:
            count = len(_KEYWORDS[call.func.id] or (1,))
            texts = tuple(str(argument.value) for argument in call.args[:count] if isinstance(argument, ast.Constant))
            if len(texts) == count:
                yield texts if count > 1 else texts[0]


def catalogues() -> list[Path]:
    """Return the catalogues that there are, one a language."""
    return sorted(LOCALES.glob(f"*/{DOMAIN}"))


def read(path: Path) -> Catalog:
    """Return a catalogue."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parents[1].name)


def updated(catalog: Catalog, sentences: Catalog) -> bytes:
    """Return the file of a catalogue that has exactly these sentences."""
    catalog.update(sentences, no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    output = io.BytesIO()
    write_po(output, catalog, width=0, sort_by_file=True, include_lineno=False, ignore_obsolete=True)
    # No dates: the same sentences are the same file.
    return _DATES.sub(b"", output.getvalue())


def missing(catalog: Catalog) -> list[str]:
    """Return the sentences without a translation, or with one that nobody has confirmed."""
    return [
        message.id if isinstance(message.id, str) else message.id[0]
        for message in catalog
        if message.id and (message.fuzzy or not all(_forms(message.string or "")))
    ]


def _forms(string: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (string,) if isinstance(string, str) else tuple(string) or ("",)


def update() -> None:
    """Give every catalogue exactly the sentences that there are, and print those that have no translation."""
    sentences = template()
    for path in catalogues():
        path.write_bytes(updated(read(path), sentences))
        for sentence in missing(read(path)):
            print(f"{path.parts[-3]}: {sentence}")
