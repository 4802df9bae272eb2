"""No package is larger than its ceiling in docs/budget.md, and every package has one."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.messages import PACKAGES, ROOT

PYTHON, MARKUP = (".py",), (".html", ".js", ".css")
_ROW = re.compile(r"^\| `([\w./]+)` \| ([\d,]+) \|", re.M)


def _lines(folders: list[Path], suffixes: tuple[str, ...], *, but: tuple[Path, ...] = ()) -> int:
    files = (path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes)
    files = (path for path in files if ".min" not in path.suffixes)  # of others
    return sum(path.read_bytes().count(b"\n") for path in files if not any(one in path.parents for one in but))


def _sizes() -> dict[str, int]:
    """Return the lines of each part, by the name that the page has for it."""
    apart = {"vlrb/judge": ROOT / "vlrb" / "judge", "vlrb/editions": ROOT / "vlrb" / "editions"}
    packages = [*PACKAGES, "bench", "scripts"]
    sizes = {name: _lines([ROOT / name], PYTHON, but=tuple(apart.values())) for name in packages}
    sizes |= {name: _lines([folder], PYTHON) for name, folder in apart.items()}
    sizes["markup"] = _lines([ROOT / name for name in packages], MARKUP)
    return sizes | {"tests": _lines([ROOT / "tests"], PYTHON)}


def test_no_part_is_larger_than_its_ceiling() -> None:
    ceilings = {
        name: int(count.replace(",", "")) for name, count in _ROW.findall((ROOT / "docs/budget.md").read_text())
    }
    sizes = _sizes()
    assert sizes.keys() == ceilings.keys()
    assert {name: size for name, size in sizes.items() if size > ceilings[name]} == {}
