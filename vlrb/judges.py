"""Identity of judges: their types, their names, and the slug that joins results of the same judge.

A judge is one set of weights, or one model of an API by its name. How many votes it casts, which prompt it gets, who
ran it and at which snapshot of the API makes it no other judge. The name of a model says more than that; what follows
in parentheses is left out, and anyone who knows better states the judge.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

TYPES: Mapping[str, str] = {
    "generative-pairwise": "pairwise",
    "generative-pointwise": "pointwise",
    "scalar": "scalar",
    "critic": "critic",
    "policy-as-judge": "policy",
}
"""Type of judge -> its short title. A policy is trained to answer; as a judge it judges answers such as its own."""
MOST_SLUG = 80
_REMARK = re.compile(r"\s*[(\uff08][^()\uff08\uff09]*[)\uff09]\s*$")
_BETWEEN = re.compile(r"[^a-z0-9]+")
_DIGEST = 8
_RESERVED = frozenset({"compare"})  # /judges/compare is a page


def judge_name(model: str, stated: str | None = None) -> str:
    """Return the name of a model's judge: the stated one, or else the model's without remarks in parentheses."""
    if name := " ".join((stated or "").split()):
        return name
    name = " ".join(model.split())
    while (shorter := _REMARK.sub("", name)) and shorter != name:
        name = shorter
    return name


@lru_cache(maxsize=1 << 16)
def judge_slug(name: str) -> str:
    """Return the address of a judge: lower-case ASCII letters, digits and single dashes, at most MOST_SLUG of them.

    A name that has other letters, is longer, or is the address of a page ends in eight digits of its SHA-256, so that
    it stays its own.
    """
    folded = unicodedata.normalize("NFKD", " ".join(name.split()).casefold())
    letters = "".join(letter for letter in folded if not unicodedata.combining(letter))
    slug = _BETWEEN.sub("-", letters).strip("-")
    lossy = any(letter.isalnum() and not letter.isascii() for letter in letters)
    if slug and not lossy and len(slug) <= MOST_SLUG and slug not in _RESERVED:
        return slug
    digest = hashlib.sha256(unicodedata.normalize("NFC", folded).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return "-".join(filter(None, (slug[: MOST_SLUG - _DIGEST - 1].strip("-") or "judge", digest)))
