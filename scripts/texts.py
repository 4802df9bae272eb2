"""Catalogue of the sentences that people read: `python -m scripts.texts` writes docs/texts.txt from code and templates.

A sentence is a text of at least three words that begins with a capital letter, a quotation mark or a placeholder and is
neither a docstring nor code. Expressions inside it are written as {…}. A test compares the file with the sources, so
every change of wording is seen in one place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path

ROOT = Path(__file__).parents[1]
CATALOGUE = ROOT / "docs" / "texts.txt"
PACKAGES = (
    "auth", "common", "leaderboard", "maintenance", "operation", "receipts", "review", "settings", "storage",
    "submissions", "vlrb", "web", "workers",
)  # fmt: skip
HOLE = "{…}"
_SENTENCE = re.compile(r"[A-Z{“\"‘'(][^\s]*(?: [^\s]+){2,}")
_CODE = re.compile(
    r"^(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|DROP|ALTER|WITH|LISTEN|BEGIN|SET)\b|^[<@.#]|[;{]\s*\w+:|://\S+\s*$|^\W+$"
)
_TAGS = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->", re.S)
_BLOCKS = re.compile(
    r"</?(?:p|li|ul|ol|h[1-6]|td|th|tr|table|thead|tbody|caption|section|nav|div|label|option|select|button|dt|dd|dl|"
    r"summary|details|form|figure|figcaption|header|footer|main|article|pre|fieldset|legend|input|svg|title|meta|"
    r"link|br)\b[^>]*>"
)
_MARKED = re.compile(r'{{ _\("([^"]*)"\) }}')  # a sentence that can be translated
_ATTRIBUTES = re.compile(r"\b(?:title|aria-label|placeholder|alt)=\"([^\"]+)\"")


def sentences() -> list[str]:
    """Return each sentence as `file: text`, in the order of files and lines, once per file."""
    lines: list[str] = []
    for path in _files(".py"):
        lines += _unique(path, _of_python(path.read_text(encoding="utf-8")))
    for path in _files(".html"):
        lines += _unique(path, _of_template(path.read_text(encoding="utf-8")))
    return lines


def _files(suffix: str) -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob(f"*{suffix}"))


def _unique(path: Path, texts: Iterator[str]) -> list[str]:
    name = path.relative_to(ROOT).as_posix()
    return [f"{name}: {text}" for text in dict.fromkeys(texts)]


def _of_python(source: str) -> Iterator[str]:
    nodes = list(ast.walk(ast.parse(source)))
    skipped = set(_docstrings(nodes))
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in ast.walk(node) if part is not node and isinstance(part, ast.Constant))
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            text = node.value
        else:
            continue
        yield from _of_markup(text) if "</" in text else _kept(text)


def _docstrings(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Yield the ids of strings that are statements of their own."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)


def _of_template(source: str) -> Iterator[str]:
    without_comments = re.sub(r"{#.*?#}", " ", source, flags=re.S)
    without_comments = _MARKED.sub(r"\1", without_comments)
    yield from _of_markup(re.sub(r"{%.*?%}", " ", re.sub(r"{{.*?}}", HOLE, without_comments, flags=re.S), flags=re.S))


def _of_markup(markup: str) -> Iterator[str]:
    for match in _ATTRIBUTES.finditer(markup):
        yield from _kept(unescape(match[1]))
    for block in _BLOCKS.split(_TAGS.sub(" ", markup)):
        yield from _kept(unescape(re.sub(r"<[^>]*>", "", block)))


def _kept(text: str) -> Iterator[str]:
    line = " ".join(text.split())
    if _SENTENCE.match(line) and not _CODE.search(line) and re.search(r"[a-z]{2}", line.replace(HOLE, "")):
        yield line


def main() -> None:
    """Write the catalogue anew."""
    CATALOGUE.write_text("\n".join(sentences()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
