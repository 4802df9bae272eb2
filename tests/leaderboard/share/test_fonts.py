"""Letters of names in preview pictures: as somebody wrote them, where the machine has a font for them."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from leaderboard.share import fonts


@pytest.fixture
def greek(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose one font has Greek letters: one that Gradio carries for formulas."""
    gradio = find_spec("gradio")
    assert gradio is not None and gradio.origin is not None
    (font, *_) = sorted(Path(gradio.origin).parent.rglob("KaTeX_Math-Italic*.ttf"))
    monkeypatch.setattr(fonts, "FOLDERS", (str(font.parent),))
    monkeypatch.setattr(fonts, "FAMILIES", (font.stem,))
    fonts._files.cache_clear()
    yield
    fonts._files.cache_clear()


def test_a_name_is_drawn_by_a_font_that_has_all_its_letters(greek: None) -> None:
    assert fonts.is_drawable("αβγ")
    assert "KaTeX" in str(fonts.font("αβγ", 30).getname())  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["裁判", "αβγ 裁判", "Ж", "قاضي", "two\nlines", "α\u202eβ"])
def test_a_name_with_a_letter_that_no_font_has_is_not_drawn(greek: None, name: str) -> None:
    assert not fonts.is_drawable(name)


def test_ascii_is_drawn_alike_on_every_machine(greek: None) -> None:
    assert fonts.is_drawable("Judge 7B")
    assert "KaTeX" not in str(fonts.font("Judge 7B", 30).getname())  # type: ignore[union-attr]
