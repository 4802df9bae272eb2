"""OpenAPI descriptions and examples of the board's routes. Values only."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from common.openapi import Answers
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec

_SPEC = load_spec(DEFAULT_BENCHMARK)
_POOLED, _MEAN = _SPEC.overall_keys


def _by_category(*values: object) -> dict[str, object]:
    return dict(zip(_SPEC.category_keys, values, strict=True))


def answers(text: str, example: Any, **problems: str) -> Answers:
    """Return a success and, by ``status_code=code-with-underscores``, the problems that a client may have to handle.

    ``problems``: name ``_404_unknown_entry`` -> when it comes.
    """
    result: Answers = {200: {"description": text, "content": {"application/json": {"example": example}}}}
    for name, when in problems.items():
        _, status, code = name.split("_", 2)
        result.setdefault(int(status), _problem(int(status), code.replace("_", "-"), when=when))
    return result


def _problem(status: int, code: str, *, when: str) -> dict[str, Any]:
    title = HTTPStatus(status).phrase
    example = {"type": "about:blank", "title": title, "status": status, "detail": when, "code": code}
    return {"description": f"{when} (`{code}`)", "content": {"application/problem+json": {"example": example}}}


_BEST_OF = {"variants": 5, "gain": {_MEAN: 0.0089}, "interval": {_MEAN: [0.7051, 0.7682]}}
_ENTRY = {
    "id": "e4kq2m7xwzta",
    "rank": 3,
    "rank_range": [2, 5],
    "model": "My judge 7B",
    "version": "2026-11",
    "judge": "my-judge-7b",
    "judge_name": "My judge 7B",
    "organisation": "A lab",
    "tier": "scored",
    "judge_type": "generative-pairwise",
    _POOLED: 0.7464,
    _MEAN: 0.7415,
    **_by_category(0.7158, 0.7477, 0.761),
    "interval": {_POOLED: [0.7216, 0.7697], _MEAN: [0.7111, 0.7682]},
    "best_of": _BEST_OF,
    "decided_rate": 0.991,
    "votes_per_item": 5,
    "attempt": 2,
    "attempts": 3,
    "submitted_at": "2026-11-21T22:00:00Z",
    "source": None,
    "url": "https://example.org/judge",
    "remark": None,
    "parameters_b": 7.0,
    "open_weights": True,
    "base_model": "Qwen2-VL-7B",
    "version_of": None,
}
_RULES = {
    "snapshot": "5f0c…",
    "as_of": "2026-11-21T22:00:00Z",
    "benchmark": _SPEC.id,
    "label_revision": "v2",
    "protocol": "strict",
    "grouping": "official",
}
_OLD = "as_of is a day, an ISO instant, or at least twelve digits of a snapshot's id."
LEADERBOARD = answers(
    "The board in display order: the benchmark's headline figure (macro of VL-RewardBench), then the pooled one, then "
    "the earlier submission. Reported rows carry no rank.",
    {
        **_RULES,
        "headline": {"key": _MEAN, "name": _MEAN},
        "sizes": {_POOLED: 1247, **_by_category(181, 749, 317)},
        "finding": f"{_ENTRY['model']} leads: macro 56.7 (53.6–59.8).",
        "unpublished": 0,
        "columns": list(_ENTRY),
        "entries": [_ENTRY],
        "baselines": [],
    },
    _400_unknown_protocol="protocol, grouping or revision is none that is known; `known` lists them",
    _404_no_board="There was no board at the moment asked for.",
)
_SCORES = {**_by_category(0.585, 0.595, 0.566), _POOLED: 0.586, _MEAN: 0.582}
_COUNTS = {"n": 183, "agree": 107, "reject": 56, "undecided": 20}
ENTRY = answers(
    "The scorecard: counts, and what each rule and grouping makes of them. Abridged here.",
    {
        "benchmark": _SPEC.id,
        "label_revision": "v2",
        "scorer_version": "2",
        "items": 1247,
        "votes_per_item": 5,
        "decided_rate": 0.9016,
        "parse_rate": 0.921,
        "missing_items": 0,
        "tally": {_SPEC.category_keys[0]: _COUNTS},
        "best_of": _BEST_OF,
        "protocols": {"strict": {**_SCORES, "interval": {_MEAN: [0.55, 0.613], _POOLED: [0.559, 0.613]}}},
        "groupings": {"official": {"strict": _SCORES}},
        "sources": {_SPEC.source_keys[1]: {"n": 171, "agree": 101, "reject": 52, "undecided": 18}},
        "error_tags": {
            _SPEC.tags[0]: {
                "n": 526,
                "agree": 320,
                "reject": 170,
                "undecided": 36,
                "error_rate": {"strict": 0.3916, "paper": 0.3469},
            }
        },
        "half_right": {
            "tally": {_SPEC.category_keys[0]: 0},
            "sources": {_SPEC.source_keys[1]: 0},
            "error_tags": {_SPEC.tags[0]: 0},
        },
        "k_curve": [{"k": 1, _POOLED: 0.55, _MEAN: 0.55}],
        "behaviour": {
            "first_shown_rate": 0.504,
            "position_bias": {"value": 0.006, "low": -0.011, "high": 0.023, "pairs": 1247},
            "one_order": False,
            "self_consistency": 0.71,
            "both_votes_right": None,
        },
        "findings": {
            "category": {
                "strongest": _SPEC.category_keys[1],
                "significantly_above": [],
                "not_separable_from": [_SPEC.category_keys[0], _SPEC.category_keys[2]],
            },
            "length": {"favours": "longer", "longer": 0.641, "shorter": 0.522},
            "position": {"favours": None, "bias": 0.006},
        },
    },
    _400_invalid_as_of=_OLD,
    _404_unknown_entry="There is no entry with this id, or it was not scored under this revision.",
    _410_withdrawn="The entry was withdrawn (`removed`: a reported result was); `at` says when and `reason` why. (A "
    "merged one leads on, with a 308.)",
)
CHECK_NUMBERS = answers(
    "Which whole numbers could be behind the percentages, under which categories and labels. Abridged here.",
    {
        "verdict": "fits",
        "headline": "These figures fit 484/448/318, not the official categories.",
        "sentences": ["General 63.84 is not a whole number of pairs out of 183; the nearest is 117/183 = 63.93."],
        "figures": _by_category("63.84", "85.71", "64.78"),
        "fits": [
            {
                "grouping": "rl-in-general",
                "revisions": ["v0", "v1"],
                "sizes": [484, 448, 318],
                "reading": "rounded",
                "right": [309, 384, 206],
                "denominators": [484, 448, 318],
                "dropped": 0,
                "solutions": 1,
                "exchanged": False,
            }
        ],
        "dropped": [],
        "categories_alone": [],
        "implied_overall": [],
        "impossible": [],
    },
    _400_bad_figures="A figure is no percentage, or there are too few; `parameter` names it",
    _503_busy="Too many readers are checking numbers at the moment.",
)
COMPARE = answers(
    "Every pair of the entries: differences of the first minus the second, most different first. Abridged here.",
    {
        **_RULES,
        "entries": [{"id": "e4kq2m7xwzta", "rank": 3, "model": "My judge 7B", _MEAN: 0.7415}],
        "pairs": [
            {
                "first": "e4kq2m7xwzta",
                "second": "eab3c5d7e2f4",
                "paired": True,
                "reason": None,
                "sentence": "My judge 7B and Another judge are not separable on the macro average.",
                "differences": {
                    _MEAN: {
                        "n": 1247,
                        "only_first": 160,
                        "only_second": 141,
                        "difference": 0.0161,
                        "interval": [-0.0118, 0.044],
                        "p": 0.26,
                        "p_adjusted": 0.52,
                        "separable": False,
                    }
                },
            }
        ],
    },
    _400_bad_entries="entries is not a list of two to five different ids",
    _404_unknown_entry="There is no entry with one of these ids; `unknown` lists them",
)
