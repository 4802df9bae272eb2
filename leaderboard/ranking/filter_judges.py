"""Judges that filtered the pairs of a benchmark: only pairs that they get wrong were kept. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from vlrb.common.messages import _
from vlrb.judges import judge_slug

MARK = _("filtered these pairs")
EXPLANATION = _(
    "This judge was used to filter these pairs: pairs were kept because it got them wrong, so "
    "its score here is biased downward."
)
_TUNING = re.compile(r"-(instruct|chat|it|hf)$")
"""Endings of repository names that people leave out when they name a model."""


def is_filter_judge(names: Iterable[str], filtered_by: Sequence[str]) -> bool:
    """Return whether one of a row's names is one of the judges; an owner before a slash does not count."""
    return not {_key(name) for name in filtered_by}.isdisjoint(_key(name) for name in names if name)


def _key(name: str) -> str:
    slug = judge_slug(name.rpartition("/")[2])
    while (shorter := _TUNING.sub("", slug)) != slug:
        slug = shorter
    return slug
