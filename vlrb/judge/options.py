"""Options of `run`, and the run that they describe."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from random import SystemRandom
from typing import Any

from vlrb.common.messages import _
from vlrb.judge import JudgeError
from vlrb.judge.configuration import APIS, CHAT, SCORER, RunConfiguration, read_run
from vlrb.judge.images import FORMS, STORED, ImagePolicy
from vlrb.judge.pairs import BOTH, ORDERS, RANDOM, PairFile, read_pairs
from vlrb.judge.prompts import OFFICIAL, PROMPTS, find_prompt
from vlrb.judge.requests import OFFICIAL_PARAMETERS

MOST_VOTES = 16
_VOTES = {True: 1, False: 5}  # of scores, of judgements
_OWN_OPTIONS = ("model", "messages", "stream", "seed", "n")
_MODEL = {"api": CHAT, "base_url": None, "scorer": None}  # of a run that asks no endpoint itself


def parse_number(kind: type, least: float, *, most: float = math.inf) -> Any:
    """Return a type of an option: a number within limits."""

    def parse(text: str) -> Any:
        value = kind(text)
        if least <= value <= most:
            return value
        if math.isfinite(most):
            raise argparse.ArgumentTypeError(_("give a number from {least:g} to {most:g}", least=least, most=most))
        raise argparse.ArgumentTypeError(_("give a number from {least:g}", least=least))

    parse.__name__ = kind.__name__
    return parse


def add_question_options(parser: argparse.ArgumentParser) -> None:
    """Add what decides what is asked."""
    add = parser.add_argument
    parser.set_defaults(**_MODEL)
    add("--model", help=_("name of the model, as the endpoint knows it"))
    add("--items", required=True, metavar="FILE", help=_("JSON lines, parquet, or a Hub dataset (owner/name@commit)"))
    votes = parse_number(int, 1, most=MOST_VOTES)
    add("--votes", type=votes, metavar="K", help=_("votes for each pair: 1 to 16 (5; of scores 1)"))
    add("--output", required=True, type=Path, metavar="DIR", help=_("directory of the run"))
    add("--order", choices=ORDERS, default=RANDOM, help=_("order of the responses (random)"))
    add("--seed", type=int, help=_("of the order alone; it is not sent (drawn and recorded)"))
    add("--limit", type=parse_number(int, 1), metavar="N", help=_("only the first N pairs"))
    add("--benchmark", default="vl-rewardbench", metavar="ID", help="vl-rewardbench")
    names, marks = ", ".join(PROMPTS), "{query}, {a0}, {a1}"
    prompt = _("{names} or a text file with {marks} ({default})", names=names, marks=marks, default=OFFICIAL.name)
    add("--prompt", default=OFFICIAL.name, metavar="NAME", help=prompt)
    _add_parameters(parser)
    _add_images(parser)


def _add_parameters(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group(
        _("sampling"), _("The defaults are those of the official run. `none` sends nothing.")
    ).add_argument
    for name, kind in (("temperature", float), ("top_p", float), ("max_tokens", int)):
        value = OFFICIAL_PARAMETERS[name]
        add(f"--{name.replace('_', '-')}", type=_or_none(kind), default=value, metavar="X", help=f"({value})")
    add("--set", action="append", default=[], metavar="NAME=JSON", dest="extra", help=_("another field of the request"))


def _add_images(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group(_("images")).add_argument
    about = _("as stored with their true type, or labelled image/png as in the official run (stored)")
    add("--image-form", choices=FORMS, default=STORED, help=about)
    add("--max-pixels", type=parse_number(int, 1), metavar="N", help=_("larger images are reduced to N pixels"))


def _or_none(kind: type) -> Any:
    def parse(text: str) -> Any:
        value = None if text.lower() == "none" else kind(text)
        if value is not None and not math.isfinite(value):
            raise ValueError(text)
        return value

    parse.__name__ = kind.__name__
    return parse


def add_endpoint_options(parser: argparse.ArgumentParser) -> None:
    """Add where and how hard to ask."""
    add, seconds = parser.add_argument, parse_number(float, 0.1, most=1e6)
    add("--base-url", metavar="URL", help=_("of an OpenAI-compatible endpoint: http://localhost:8000/v1"))
    add("--api", choices=APIS, default=CHAT, help=_("kind of endpoint (chat)"))
    add("--scorer", metavar="MODULE:FUNCTION", help=_("a Python function instead of an endpoint"))
    add(
        "--concurrency",
        type=parse_number(int, 1, most=10_000),
        default=32,
        metavar="N",
        help=_("most requests in flight (32)"),
    )
    add("--timeout", type=seconds, default=300.0, metavar="SECONDS", help=_("of one request (300)"))
    add("--attempts", type=parse_number(int, 1), default=5, metavar="N", help=_("before a vote counts as failed (5)"))
    wait = parse_number(float, 0, most=3600)
    add("--retry-wait", type=wait, default=0.5, metavar="SECONDS", help=_("before the first retry (0.5)"))
    add("--retry-failed", action="store_true", help=_("ask again for votes that are recorded as failed"))
    add("--retry-empty", action="store_true", help=_("ask again for votes whose answer is empty"))
    add("--json", action="store_true", help=_("print the summary as JSON"))
    group = parser.add_argument_group(_("budget"), _("Over all starts of the run."))
    group.add_argument("--max-requests", type=parse_number(int, 1), metavar="N", help=_("most requests"))
    money = parse_number(float, 0, most=1e9)
    group.add_argument("--max-cost", type=money, metavar="MONEY", help=_("most money, with the prices below"))
    price = parse_number(float, 0, most=1e9)
    group.add_argument(
        "--price-prompt", type=price, default=0.0, metavar="DOLLARS", help=_("of a million prompt tokens")
    )
    group.add_argument("--price-reply", type=price, default=0.0, metavar="DOLLARS", help=_("of a million reply tokens"))


def configure(arguments: argparse.Namespace, *, scores_pairwise: bool = False) -> tuple[RunConfiguration, PairFile]:
    """Return the run that the options describe, and its pairs.

    Raises:
        JudgeError: the options contradict one another, or the items cannot be read.
    """
    api = SCORER if arguments.scorer else arguments.api
    _require_named(arguments, api)
    votes, recorded = _votes(arguments, scores=api != CHAT and not scores_pairwise), read_run(arguments.output)
    prompt = find_prompt(arguments.prompt)
    parameters = _parameters(arguments) if api == CHAT else {}
    file = read_pairs(arguments.items)
    images = ImagePolicy(arguments.image_form, max_pixels=arguments.max_pixels)
    if (images.max_pixels or api == SCORER) and any(pair.image.url for pair in file.pairs):
        raise JudgeError(
            "Some images are addresses, which the endpoint fetches by itself. Save them to files for --max-pixels and "
            "--scorer."
        )
    drawn = recorded["seed"] if recorded else SystemRandom().randrange(2**31)
    configuration = RunConfiguration(
        api=api,
        model=arguments.model or arguments.scorer,
        base_url=arguments.base_url,
        scorer=arguments.scorer,
        votes=votes,
        order=arguments.order,
        seed=drawn if arguments.seed is None else arguments.seed,
        prompt=prompt,
        parameters=parameters,
        images=images,
        benchmark=arguments.benchmark,
        items=Path(arguments.items).name if Path(arguments.items).is_file() else arguments.items,
        items_sha256=file.sha256,
        pairs=len(file.pairs),
    )
    return configuration, file


def _votes(arguments: argparse.Namespace, *, scores: bool) -> int:
    votes: int = arguments.votes if arguments.votes is not None else _VOTES[scores]
    if arguments.order == BOTH and votes % 2 and not scores and read_run(arguments.output) is None:
        raise JudgeError(
            "--order both asks as often in either order, so the votes are even: --votes {votes}.", votes=votes + 1
        )
    return votes


def _require_named(arguments: argparse.Namespace, api: str) -> None:
    if api == SCORER and arguments.base_url:
        raise JudgeError("--scorer needs no endpoint: give --base-url or --scorer, not both.")
    if not arguments.model and api != SCORER:
        raise JudgeError("--model is missing: the name under which the endpoint knows the model.")
    if arguments.command == "run" and not arguments.base_url and api != SCORER:
        raise JudgeError("--base-url is missing: the address of the endpoint, or give --scorer MODULE:FUNCTION.")


def _no_number(name: str) -> Any:
    raise ValueError(name)  # NaN is no JSON; an endpoint would refuse every request


def _parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    named = {name: getattr(arguments, name) for name in OFFICIAL_PARAMETERS}
    parameters = {name: value for name, value in named.items() if value is not None}
    for text in arguments.extra:
        name, equals, value = text.partition("=")
        if not equals or name in _OWN_OPTIONS:
            raise JudgeError(
                "--set {text}: give NAME=JSON; {names} cannot be set.", text=text, names=", ".join(_OWN_OPTIONS)
            )
        try:
            parameters[name] = json.loads(value, parse_constant=_no_number)
        except ValueError:
            parameters[name] = value
    return parameters
