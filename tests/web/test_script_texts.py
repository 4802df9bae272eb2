"""Sentences of scripts: each is in the catalogue under the name by which its script looks it up."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from leaderboard.site import theme
from review import annotation as annotate
from tests.factories.specs import VL
from vlrb.common.messages import Message

ROOT = Path(__file__).parents[2]
SCRIPTS: dict[str, tuple[Message, ...]] = {
    "leaderboard/site/static/board.js": (),
    "leaderboard/site/static/submit.js": theme.SENTENCES,
    "leaderboard/site/static/annotate.js": annotate.SENTENCES,
    "leaderboard/site/static/nav.js": (),
}
_STRING = re.compile(r"\"([^\"\n]*)\"|`([^`]*)`")
# Two words, the first of which begins like a sentence or with a value: what a reader of English would miss.
_SENTENCE = re.compile(r"[A-Z][a-z]+ [a-z{$]|(?:\{\w+(?::,)?\}|\$\{[^}]*\}) [a-z]")


def _source(name: str) -> str:
    return re.sub(r"^\s*//.*|\s// .*", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.M)


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_sentence_of_a_script_can_be_translated(name: str) -> None:
    known = {text.msgid for text in SCRIPTS[name]}
    source = _source(name)
    found = {first or second for first, second in _STRING.findall(source)}
    assert {text for text in found if _SENTENCE.match(text)} - known == set()
    assert set(re.findall(r"\btr\(\"([^\"]+)\"", source)) - known == set()
    assert {text for text in known if f'"{text}"' not in source} == set()


def test_gradio_pages_carry_the_sentences_of_their_script_as_data() -> None:
    match = re.search(r'<script type="application/json" id="script-texts">(.*?)</script>', theme.head(VL, "zh-CN"))
    assert match is not None
    assert set(json.loads(match[1])) == set(theme.SENTENCES)
    assert "script-texts" not in theme.head(VL, "en")
