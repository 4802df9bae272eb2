"""Prompts for pairwise judging, each with the SHA-256 that a run records.

Sources: vl-rewardbench/VL_RewardBench `prompt.py`, open-compass/VLMEvalKit `vl_rewardbench.py`, yfzhang114/r1_reward.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlrb.judge import JudgeError

OVERALL_JUDGMENT, ANSWER_TAG = "overall-judgment", "answer-tag"
OFFICIAL = "official"
OFFICIAL_PARAMETERS: Mapping[str, Any] = {"temperature": 0.2, "top_p": 0.2, "max_tokens": 2048}
PROMPTS: Mapping[str, Mapping[str, Any]] = {
    OFFICIAL: {"without": "<image>\n"},
    "vlmevalkit": {"image_first": True},
    "r1-reward": {"image_first": True},
}
"""By the name of a file in `templates/`, to the byte as published: how its text is sent."""
_TEMPLATES = Path(__file__).with_name("templates")
_PLACEHOLDER = re.compile(r"\{(query|a0|a1)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template with {query}, {a0} and {a1}: the question and the two responses in the order shown."""

    name: str
    template: str
    image_first: bool = False
    without: str = ""  # removed from the finished text, as the official script does with the image token

    @property
    def reading(self) -> str:
        """How a verdict is read from the reply: as the template asks for it."""
        return ANSWER_TAG if "<answer>" in self.template else OVERALL_JUDGMENT

    @property
    def sha256(self) -> str:
        """Digest of the template's UTF-8 bytes."""
        return hashlib.sha256(self.template.encode()).hexdigest()

    def render(self, query: str, responses: Sequence[str], *, swapped: bool) -> str:
        """Return the text to send. Placeholders inside a question or a response stay as they are."""
        first, second = (responses[1], responses[0]) if swapped else (responses[0], responses[1])
        values = {"query": query, "a0": first, "a1": second}
        text = _PLACEHOLDER.sub(lambda match: values[match[1]], self.template)
        return text.replace(self.without, "") if self.without else text


def find_prompt(name: str) -> Prompt:
    """Return a built-in prompt by its name, or the prompt of a text file.

    Raises:
        JudgeError: there is neither, or the file lacks a placeholder.
    """
    known = name.lower() if name.lower() in PROMPTS else ""
    path = _TEMPLATES / f"{known}.txt" if known else Path(name)
    if not path.is_file():
        names = ", ".join(PROMPTS)
        raise JudgeError(
            "There is no prompt {name!r}. Choose one of {names}, or name a text file.", name=name, names=names
        )
    try:
        template = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise JudgeError("{path} is not UTF-8. Save it as UTF-8.", path=path) from None
    if missing := ", ".join(mark for mark in ("{query}", "{a0}", "{a1}") if mark not in template):
        raise JudgeError("{path} lacks {names}: the question and the two responses go there.", path=path, names=missing)
    return Prompt(known or path.name, template, **PROMPTS.get(known, {}))
