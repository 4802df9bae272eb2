"""Sentences of scripts: each is in the catalogue under the name by which its script looks it up."""

from __future__ import annotations

import json
import re
from pathlib import Path

from review import annotation as annotate
from tests.factories.specs import VL

STATIC = Path(__file__).parents[2] / "leaderboard" / "site" / "static"
_STRING = re.compile(r"\"([^\"\n]*)\"|`([^`]*)`")
# Two words, the first of which begins like a sentence or with a value: what a reader of English would miss.
_SENTENCE = re.compile(r"[A-Z][a-z]+ [a-z{$]|(?:\{\w+(?::,)?\}|\$\{[^}]*\}) [a-z]")


def _source(name: str) -> str:
    return re.sub(r"^\s*//.*|\s// .*", "", (STATIC / f"{name}.js").read_text(encoding="utf-8"), flags=re.M)


def test_every_sentence_of_a_script_can_be_translated() -> None:
    from web import gradio_app  # with Gradio, which takes seconds: only the process that runs this is to wait

    sentences = {"board": (), "submit": gradio_app.SENTENCES, "annotate": annotate.SENTENCES, "nav": ()}
    for name, messages in sentences.items():
        known = {text.msgid for text in messages}
        source = _source(name)
        found = {first or second for first, second in _STRING.findall(source)}
        assert {text for text in found if _SENTENCE.match(text)} - known == set()
        assert set(re.findall(r"\btr\(\"([^\"]+)\"", source)) - known == set()
        assert {text for text in known if f'"{text}"' not in source} == set()


def test_gradio_pages_carry_the_sentences_of_their_script_as_data() -> None:
    from web import gradio_app

    match = re.search(r'<script type="application/json" id="script-texts">(.*?)</script>', gradio_app.head(VL, "zh-CN"))
    assert match is not None
    assert set(json.loads(match[1])) == set(gradio_app.SENTENCES)
    assert "script-texts" not in gradio_app.head(VL, "en")
