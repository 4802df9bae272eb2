"""English that is left on a page in another language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import unescape

LEAST = 4  # words in a row that make a sentence
# Names that stay English, wherever they stand.
TERMS = (
    "VL-RewardBench", "MM-RLHF-RewardBench", "Multimodal RewardBench", "Hugging Face Hub", "Hugging Face", "Hub",
    "Romano", "Wolf", "Wilson", "MOVER", "Cohen’s kappa", "Best of 5 variants", "Luck",
    "JSON lines", "JSON", "CSV", "Parquet", "LaTeX", "Markdown", "BibTeX", "API", "OpenAPI", "VLMEvalKit", "lmms-eval",
    "RewardBench", "Skywork", "Inspect", "ARM-Thinker", "LWE", "MM-JudgeBench",
    "categories do not add up", "Answer 3 is better", "I cannot decide", "GitHub",
    "macro, overall, general, hallucination, reasoning",
)  # fmt: skip
_UNSEEN = re.compile(
    r"<(script|style|pre|code|bdi|noscript|kbd|samp|textarea)\b.*?</\1>|<!--.*?-->|<title>.*?</title>"
    r"|<a [^>]*dir=\"auto\".*?</a>",
    re.S,
)
_ENGLISH = re.compile(r"<(\w+)\b[^>]*\s(?:lang=\"en\"|translate=\"no\")[^>]*>.*?</\1>", re.S)
_ATTRIBUTES = re.compile(r"\s(?:title|aria-label|placeholder|alt)=\"([^\"]+)\"")
_BLOCKS = re.compile(r"</?(?!(?:a|b|i|em|strong|small|span|time|u|sup|sub|abbr)\b)[a-zA-Z][^>]*>")
_BESIDE_HAN = re.compile(r".{0,12}(?:[\u4e00-\u9fff] ?[,;!?]|[\u4e00-\u9fff]:(?!/)|[,;:!?] ?[\u4e00-\u9fff]).{0,12}")
_RUN = re.compile(r"[A-Za-z][A-Za-z’'-]*(?:[ ,;:()“”\"]+[A-Za-z][A-Za-z’'-]*)+")


def english_left(page: str, names: Iterable[str] = ()) -> list[str]:
    """Return runs of at least LEAST English words in the prose and attributes of a page; `names` may stay."""
    seen = _ENGLISH.sub(" ", _UNSEEN.sub(" · ", page))
    texts = [*_ATTRIBUTES.findall(seen), *(re.sub(r"<[^>]*>", "", block) for block in _BLOCKS.split(seen))]
    kept = sorted({*names, *TERMS}, key=len, reverse=True)
    return [run for text in texts for run in _runs(" ".join(unescape(text).split()), kept)]


def untranslated(page: str, catalogue: Mapping[str, str], names: Iterable[str] = ()) -> list[str]:
    """Return what stands alone on a page in English, however short, although the catalogue has another text for it."""
    seen = _ENGLISH.sub(" ", _UNSEEN.sub(" · ", page))
    texts = [*_ATTRIBUTES.findall(seen), *re.sub(r"<[^>]*>", "\n", seen).split("\n")]
    alone = {" ".join(unescape(text).split()) for text in texts} - {*names}
    return sorted(text for text in alone if re.search("[A-Za-z]{2}", text) and catalogue.get(text, text) != text)


def ascii_beside_han(page: str) -> list[str]:
    """Return ASCII marks beside Chinese characters in the prose and attributes of a page, with their neighbours."""
    seen = _ENGLISH.sub(" ", _UNSEEN.sub(" · ", page))
    texts = [*_ATTRIBUTES.findall(seen), *(re.sub(r"<[^>]*>", "", block) for block in _BLOCKS.split(seen))]
    return [found for text in texts for found in _BESIDE_HAN.findall(" ".join(unescape(text).split()))]


def _runs(text: str, names: Iterable[str]) -> list[str]:
    for name in names:
        if name:
            text = text.replace(name, " · ")
    return [run for run in _RUN.findall(text) if len(re.findall(r"[A-Za-z][A-Za-z’'-]+", run)) >= LEAST]
