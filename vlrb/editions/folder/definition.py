"""The definition (`spec.toml`) of an edition. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vlrb.editions.pools.pairs import DROPPED

_COLOURS = ("#b3541e", "#1b7f6b", "#6a4fb3", "#1f5fbf", "#8a6d00", "#a3195b", "#7a3b2e", "#3d6b1f")


@dataclass(frozen=True, slots=True)
class EditionNaming:
    """What an edition is called, and may be used for."""

    id: str
    title: str
    licence: str
    citation: str


@dataclass(frozen=True, slots=True)
class EditionDefinition:
    """What a definition says. ``sizes``: edition key -> category -> pairs; the first edition is the whole one.

    ``tags``: error tags that pairs of any category may have.
    """

    naming: EditionNaming
    tags: Sequence[str]
    sizes: Mapping[str, Mapping[str, int]]
    filtered_by: Sequence[str]

    def toml(self) -> str:
        """Return the text of `spec.toml`."""
        categories = list(next(iter(self.sizes.values())))
        parts = [*self._head(), *self._categories(categories), *_RULES, *self._editions(), *self._tag_names()]
        return "\n".join(parts) + "\n"

    def _tag_names(self) -> list[str]:
        lines = [f"{_text(tag)} = {_text(tag)}" for tag in self.tags]
        return ["", "[tag_names]", *lines] if lines else []

    def _head(self) -> list[str]:
        return [
            f"id = {_text(self.naming.id)}",
            f"title = {_text(self.naming.title)}",
            'dataset = ""',
            f"licence = {_text(self.naming.licence)}",
            f"citation = {_text(self.naming.citation)}",
            "public_labels = false",
            f"drop_from_questions = [{', '.join(map(_text, DROPPED))}]",
            'verdict_format = "official-sentence"',
            'headline = "micro"',
            f"tags = [{', '.join(_text(name) for name in self.tags)}]",
            f"filtered_by = [{', '.join(_text(name) for name in self.filtered_by)}]",
            "",
            "[items]",
            'id = "id"',
            'question = "query"',
            'responses = ["response_a", "response_b"]',
            'category = ["category"]',
            'label = "preferred"',
            'label_values = { a = "first", b = "second" }',
        ]

    def _categories(self, categories: Sequence[str]) -> list[str]:
        lines = []
        for number, key in enumerate(categories):
            colour = _COLOURS[number % len(_COLOURS)]
            lines += [
                "",
                "[[categories]]",
                f"key = {_text(key)}",
                f"title = {_text(key.replace('-', ' ').capitalize())}",
            ]
            lines += [f"colour = {_text(colour)}", *(["tagged = true"] if self.tags else [])]
        for key in categories:
            lines += ["", "[[category_rules]]", f"equals = {_text(key)}", f"category = {_text(key)}"]
        return lines

    def _editions(self) -> list[str]:
        lines = []
        for key, sizes in self.sizes.items():
            held = ", ".join(f"{_text(name)} = {number}" for name, number in sizes.items())
            lines += ["", "[[editions]]", f"key = {_text(key)}", f"title = {_text(f'{self.naming.title}, {key}')}"]
            lines += [f"pairs = {sum(sizes.values())}", f"sizes = {{ {held} }}"]
        return lines


_RULES = (
    "",
    "[[protocols]]",
    'key = "strict"',
    'title = "A pair counts if more than half of its votes are for the preferred response"',
    'unreadable = "wrong"',
    'votes = "majority"',
    "",
    "[[overalls]]",
    'key = "micro"',
    'title = "All pairs alike"',
    'kind = "micro"',
    "",
    "[[overalls]]",
    'key = "macro"',
    'title = "Mean of the categories"',
    'kind = "mean"',
)


def _text(value: str) -> str:
    """Return a TOML string; its escapes are those of JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
