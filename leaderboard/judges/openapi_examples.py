"""OpenAPI descriptions and examples of the routes about judges. Values only."""

from __future__ import annotations

from typing import Any

from leaderboard.openapi_examples import answers
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec

_SPEC = load_spec(DEFAULT_BENCHMARK)
_HEADLINE = _SPEC.headline
_FIGURE = {
    "key": _HEADLINE,
    "title": _SPEC.title_of(_HEADLINE),
    "definition": "mean of 3",
    "value": 0.7415,
    "interval": [0.7111, 0.7682],
}
_MICRO = {"key": "micro", "title": "ACC", "definition": "micro", "value": 0.8235, "interval": [0.7587, 0.8738]}
_SCORED = {
    "entry": "e4kq2m7xwzta",
    "rank": 3,
    "rank_range": [2, 5],
    "remark": None,
    "votes_per_item": 5,
    "figures": [_FIGURE],
}
_REPORTED = {
    "result": "r-my-judge-2605-00001",
    "model": "My judge 7B",
    "votes_per_item": None,
    "oracle": False,
    "source": "arXiv:2605.00001",
    "url": "https://arxiv.org/abs/2605.00001",
    "figures": [{**_FIGURE, "value": 0.739, "interval": None}],
    "arithmetic": "categories do not add up",
    "finding": "categories do not add up",
    "mixed": [],
}
_CELL = {"label_revision": "v2", "protocol": "strict", "part": None, "scored": _SCORED, "reported": [_REPORTED]}
_OTHER_CELL: dict[str, Any] = {
    "label_revision": "v1",
    "protocol": "strict",
    "part": None,
    "scored": {**_SCORED, "figures": [_MICRO]},
    "reported": [],
}
_NAME: dict[str, Any] = {"judge": "my-judge-7b", "name": "My judge 7B", "url": "/judges/my-judge-7b"}
_LINE = {
    **_NAME,
    "benchmarks": {_SPEC.id: _CELL, "mm-rlhf-rewardbench": _OTHER_CELL},
    "composite": {
        "value": 0.7825,
        "interval": [0.7469, 0.8119],
        "rank_range": [1, 2],
        "entries": {_SPEC.id: {"entry": _SCORED["entry"], "version": "v3"}},
        "parts": {},
    },
}
_WEIGHTS = {_SPEC.id: 1.0, "mm-rlhf-rewardbench": 1.0}
_UNKNOWN = "There is no judge with this slug; `unknown` lists those of a comparison"
JUDGES = answers(
    "Judges in the order of the table; `composite` is null for a judge without a score on a benchmark with a weight. "
    "`arithmetic` says what is wrong with reported figures, null where nothing is known to be; `finding` says what "
    "they fit; `mixed` lists the definitions of overall that their table has in one column; `oracle`: its "
    "judge was given a part of the answer; `remark`: why an entry has no rank, such as votes of a baseline; `part` "
    "says how many of the released pairs a board has, null for all; `parts` of a composite says it of "
    "each benchmark that it takes in.",
    {"benchmarks": [*_WEIGHTS], "weights": _WEIGHTS, "judges": [_LINE]},
)
JUDGE = answers("The judge.", {**_LINE, "weights": _WEIGHTS}, _404_unknown_judge=_UNKNOWN)
COMPARE_JUDGES = answers(
    "Differences of the first judge minus the second. `tested`: both were scored here, so that there is an interval; p "
    "values are adjusted for the number of benchmarks (Holm). `variant`: how a result was made where that is not one "
    "plain answer for each pair, and why it leads nothing.",
    {
        "judges": [_NAME, {"judge": "another", "name": "Another", "url": "/judges/another"}],
        "verdict": "My judge 7B and Another cannot be separated on VL-RewardBench.",
        "benchmarks": [
            {
                "benchmark": _SPEC.id,
                "label_revision": "v2",
                "protocol": "strict",
                "part": None,
                "figures": [
                    {**_FIGURE, "scored": True, "variant": None},
                    {**_FIGURE, "value": 0.7254, "scored": True, "variant": "5 votes"},
                ],
                "difference": {
                    "n": 1247,
                    "only_first": None,
                    "only_second": None,
                    "difference": 0.0161,
                    "interval": [-0.0118, 0.044],
                    "p": 0.26,
                    "p_adjusted": 0.52,
                    "separable": False,
                },
                "tested": True,
                "how": "strict; pair by pair",
            }
        ],
    },
    _400_bad_judges="a and b are not the slugs of two different judges",
    _404_unknown_judge=_UNKNOWN,
)
AGREEMENT = answers(
    "Every two benchmarks. `correlation` is null with fewer judges than `judges_needed`; `scored` is false where a "
    "figure of the judge is reported.",
    {
        "verdict": "VL-RewardBench and MM-RLHF-RewardBench have a rank correlation of 0.64 over 18 judges.",
        "judges_needed": 5,
        "pairs": [
            {
                "benchmarks": [*_WEIGHTS],
                "parts": {},
                "n": 18,
                "correlation": 0.6446,
                "interval": [0.2069, 0.868],
                "judges": [{"judge": "my-judge-7b", "name": "My judge 7B", "values": [0.7415, 0.8235], "scored": True}],
            }
        ],
    },
)
