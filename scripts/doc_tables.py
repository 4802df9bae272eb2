"""Tables of the documentation that follow from declarations in code: `python -m scripts.doc_tables` writes them.

A table stands between ``<!-- name -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from benchmark.protocols import protocols
from benchmark.spec import DEFAULT_BENCHMARK, load_spec
from leaderboard.share.exports import FORMATS
from predictions.readers import READERS

DOCS = Path(__file__).parents[1] / "docs"
_BLOCK = re.compile(r"(<!-- ([a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _table(heading: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = tuple(heading)
    lines = [titles, ("---",) * len(titles), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _protocols() -> str:
    rows = (
        (f"`{rule.key}`", f"**{rule.title}** {rule.text}") for rule in protocols(load_spec(DEFAULT_BENCHMARK)).values()
    )
    return _table(("name in addresses", "how an answer counts"), rows)


def _exports() -> str:
    rows = ((form.title, f"`/export/board.{form.suffix}`", form.content) for form in FORMATS.values())
    return _table(("file", "address", "content"), rows)


def _readers() -> str:
    return _table(("tool", "what to upload"), ((reader.GUIDE.tool, reader.GUIDE.upload) for reader in READERS))


TABLES: Mapping[str, Callable[[], str]] = {
    "protocols": _protocols,
    "exports": _exports,
    "readers": _readers,
}


def filled(text: str) -> str:
    """Return a document with its tables as the code declares them."""
    return _BLOCK.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], text)


def documents() -> list[Path]:
    """Return the documents that hold such a table."""
    return [path for path in sorted(DOCS.glob("*.md")) if _BLOCK.search(path.read_text(encoding="utf-8"))]


def main() -> None:
    """Write every table anew."""
    for path in documents():
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(DOCS.parent)}\n")


if __name__ == "__main__":
    main()
