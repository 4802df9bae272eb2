"""Options of `run` and `batch export`, and the run that they describe."""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vlrb.common.messages import _
from vlrb.judge.configuration import APIS, CHAT, PRICES, SCORER, RunConfiguration, read_run
from vlrb.judge.errors import JudgeError
from vlrb.judge.images import FORMS, STORED, ImagePolicy
from vlrb.judge.pairs import PairFile, read_pairs
from vlrb.judge.plan import BOTH, ORDERS, RANDOM
from vlrb.judge.prompts import OFFICIAL, PROMPTS, READINGS, find_prompt
from vlrb.judge.requests import OFFICIAL_PARAMETERS
from vlrb.judge.totals import Prices, RunBudget

MOST_VOTES = 16
_VOTES = {True: 1, False: 5}  # of scores, of judgements
_RANGES: Mapping[str, tuple[float, float]] = {
    "limit": (1, math.inf),
    "concurrency": (1, 10_000),
    "attempts": (1, math.inf),
    "timeout": (0.1, 1e6),
    "retry_wait": (0, 3600),
    "max_requests": (1, math.inf),
    "max_total_tokens": (1, math.inf),
    "max_cost": (0, 1e9),
    "price_prompt": (0, 1e9),
    "price_reply": (0, 1e9),
    "image_quality": (1, 100),
    "max_pixels": (1, math.inf),
}
_OWN_OPTIONS = ("model", "messages", "stream", "seed", "n")


def add_question_options(parser: argparse.ArgumentParser) -> None:
    """Add what decides what is asked."""
    parser.add_argument("--model", help=_("name of the model, as the endpoint knows it"))
    parser.add_argument(
        "--items", required=True, metavar="FILE", help=_("JSON lines, parquet, or a Hub dataset (owner/name)")
    )
    parser.add_argument("--items-revision", metavar="COMMIT", help=_("commit of the Hub dataset"))
    parser.add_argument("--items-split", metavar="SPLIT", help=_("split of the Hub dataset (test, or the only one)"))
    parser.add_argument("--votes", type=int, metavar="K", help=_("votes for each pair: 1 to 16 (5; of scores 1)"))
    parser.add_argument("--output", required=True, type=Path, metavar="DIR", help=_("directory of the run"))
    parser.add_argument("--order", choices=ORDERS, default=RANDOM, help=_("order of the responses (random)"))
    parser.add_argument("--seed", type=int, help=_("of the order alone; it is not sent (drawn and recorded)"))
    parser.add_argument("--limit", type=int, metavar="N", help=_("only the first N pairs"))
    parser.add_argument("--benchmark", default="vl-rewardbench", metavar="ID", help="vl-rewardbench")
    prompt = _(
        "{names} or a text file with {marks} ({default})",
        names=", ".join(PROMPTS),
        marks="{query}, {a0}, {a1}",
        default=OFFICIAL.name,
    )
    parser.add_argument("--prompt", default=OFFICIAL.name, metavar="NAME", help=prompt)
    parser.add_argument("--reading", choices=READINGS, help=_("how verdicts are read, for a prompt of your own"))
    _add_parameters(parser)
    _add_images(parser)


def _add_parameters(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        _("sampling"), _("The defaults are those of the official run. `none` sends nothing.")
    )
    for name, kind in (("temperature", float), ("top_p", float), ("max_tokens", int)):
        flag = "--" + name.replace("_", "-")
        value = OFFICIAL_PARAMETERS[name]
        group.add_argument(flag, dest=name, type=_or_none(kind), default=value, metavar="X", help=f"({value})")
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=JSON", dest="extra", help=_("another field of the request")
    )


def _add_images(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(_("images"))
    group.add_argument(
        "--image-form",
        choices=FORMS,
        default=STORED,
        help=_(
            "as stored with their true type; as stored, labelled image/png as in the official run; encoded anew "
            "(stored)"
        ),
    )  # fmt: skip
    group.add_argument("--image-quality", type=int, default=95, metavar="Q", help=_("of JPEG (95)"))
    group.add_argument("--max-pixels", type=int, metavar="N", help=_("larger images are reduced to N pixels"))
    group.add_argument("--fetch-images", action="store_true", help=_("send images, where pairs have addresses"))


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
    parser.add_argument(
        "--base-url", metavar="URL", help=_("of an OpenAI-compatible endpoint: http://localhost:8000/v1")
    )
    parser.add_argument("--api", choices=APIS, default=CHAT, help=_("kind of endpoint (chat)"))
    parser.add_argument("--endpoint", metavar="PATH", help=_("where scores are asked for: /pooling, /v1/classify"))
    parser.add_argument("--scorer", metavar="MODULE:FUNCTION", help=_("a Python function instead of an endpoint"))
    parser.add_argument("--api-key-env", metavar="NAME", help=_("environment variable with the key (OPENAI_API_KEY)"))
    parser.add_argument("--concurrency", type=int, default=32, metavar="N", help=_("most requests in flight (32)"))
    parser.add_argument("--timeout", type=float, default=300.0, metavar="SECONDS", help=_("of one request (300)"))
    parser.add_argument("--attempts", type=int, default=5, metavar="N", help=_("before a vote counts as failed (5)"))
    parser.add_argument(
        "--retry-wait", type=float, default=0.5, metavar="SECONDS", help=_("before the first retry (0.5)")
    )
    parser.add_argument(
        "--retry-failed", action="store_true", help=_("ask again for votes that are recorded as failed")
    )
    parser.add_argument("--yes", action="store_true", help=_("ask nothing, also in a terminal"))
    parser.add_argument("--json", action="store_true", help=_("print the summary as JSON"))
    group = parser.add_argument_group(_("budget"), _("Over all starts of the run."))
    group.add_argument("--max-requests", type=int, metavar="N", help=_("most requests"))
    group.add_argument("--max-total-tokens", type=int, metavar="N", help=_("most tokens, prompts and replies"))
    group.add_argument("--max-cost", type=float, metavar="MONEY", help=_("most money, with the prices below"))
    add_price_options(group)


def add_price_options(parser: Any) -> None:
    """Add what tokens cost, to a parser or a group of one."""
    parser.add_argument("--price-prompt", type=float, metavar="DOLLARS", help=_("of a million prompt tokens"))
    parser.add_argument("--price-reply", type=float, metavar="DOLLARS", help=_("of a million reply tokens"))


def read_prices(arguments: argparse.Namespace, folder: Path) -> Prices:
    """Return the prices of the options; one that is not given is that of an earlier start."""
    kept = (read_run(folder) or {}).get(PRICES, {})
    given = {"prompt": arguments.price_prompt, "completion": arguments.price_reply}
    return Prices(**kept | {name: price for name, price in given.items() if price is not None})


def read_budget(arguments: argparse.Namespace) -> RunBudget:
    """Return the budget of the options.

    Raises:
        JudgeError: money is limited, but nothing has a price; or a number makes no sense.
    """
    check_numbers(arguments)
    if arguments.max_cost is not None and read_prices(arguments, arguments.output) == Prices():
        raise JudgeError(_("--max-cost needs prices: --price-prompt and --price-reply, for a million tokens each."))
    return RunBudget(arguments.max_requests, arguments.max_total_tokens, money=arguments.max_cost)


def configure(arguments: argparse.Namespace, *, scores_pairwise: bool = False) -> tuple[RunConfiguration, PairFile]:
    """Return the run that the options describe, and its pairs.

    Raises:
        JudgeError: the options contradict one another, or the items cannot be read.
    """
    api = SCORER if getattr(arguments, "scorer", None) else getattr(arguments, "api", CHAT)
    votes = check_choices(arguments, api, scores_pairwise=scores_pairwise)
    file = read_pairs(arguments.items, revision=arguments.items_revision, split=arguments.items_split)
    configuration = RunConfiguration(
        api=api,
        model=arguments.model or arguments.scorer,
        base_url=getattr(arguments, "base_url", None),
        scorer=getattr(arguments, "scorer", None),
        votes=votes,
        order=arguments.order,
        seed=_seed(arguments),
        prompt=find_prompt(arguments.prompt, reading=arguments.reading),
        parameters=_parameters(arguments) if api == CHAT else {},
        images=_images(arguments),
        benchmark=arguments.benchmark,
        items=_source(arguments, file),
        items_sha256=file.sha256,
        pairs=len(file.pairs),
        endpoint=getattr(arguments, "endpoint", None),
    )
    return configuration, file


def check_choices(arguments: argparse.Namespace, api: str, *, scores_pairwise: bool = False) -> int:
    """Return the number of votes of options that go together.

    Raises:
        JudgeError: they contradict one another, one is missing, or a number makes no sense.
    """
    _require_named(arguments, api)
    check_numbers(arguments)
    scores = api != CHAT and not scores_pairwise
    votes: int = arguments.votes if arguments.votes is not None else _VOTES[scores]
    if not 1 <= votes <= MOST_VOTES:
        raise JudgeError(
            _("--votes {votes}: a pair takes 1 to {most_votes} votes.", votes=votes, most_votes=MOST_VOTES)
        )
    if arguments.order == BOTH and votes % 2 and not scores and read_run(arguments.output) is None:
        raise JudgeError(
            _("--order both asks as often in either order, so the votes are even: --votes {votes}.", votes=votes + 1)
        )
    find_prompt(arguments.prompt, reading=arguments.reading)
    if api == CHAT:
        _parameters(arguments)
    if hasattr(arguments, "max_cost"):
        read_budget(arguments)
    return votes


def _require_named(arguments: argparse.Namespace, api: str) -> None:
    if api == SCORER and arguments.base_url:
        raise JudgeError(_("--scorer needs no endpoint: give --base-url or --scorer, not both."))
    if api in (CHAT, SCORER) and getattr(arguments, "endpoint", None):
        raise JudgeError(
            _(
                "--endpoint {endpoint} is where scores are asked for: give --api classify or --api score, too.",
                endpoint=arguments.endpoint,
            )
        )
    if not arguments.model and api != SCORER:
        raise JudgeError(_("--model is missing: the name under which the endpoint knows the model."))
    if hasattr(arguments, "base_url") and not arguments.base_url and api != SCORER:
        raise JudgeError(_("--base-url is missing: the address of the endpoint, or give --scorer MODULE:FUNCTION."))


def check_numbers(arguments: argparse.Namespace) -> None:
    """Raise JudgeError where an option has a number that makes no sense, such as a time-out of no seconds."""
    for name, (least, most) in _RANGES.items():
        value = getattr(arguments, name, None)
        if value is not None and not least <= value <= most:
            raise JudgeError(_out_of_range(name.replace("_", "-"), value, least=least, most=most))


def _out_of_range(name: str, value: float, *, least: float, most: float) -> str:
    if math.isfinite(most):
        return _(
            "--{name} {value} makes no sense: give a number from {least:g} to {most:g}.",
            name=name,
            value=value,
            least=least,
            most=most,
        )
    return _("--{name} {value} makes no sense: give a number from {least:g}.", name=name, value=value, least=least)


def _seed(arguments: argparse.Namespace) -> int:
    if arguments.seed is not None:
        return int(arguments.seed)
    recorded = read_run(arguments.output)
    if recorded is not None:
        return int(recorded["seed"])
    return random.SystemRandom().randrange(2**31)


def _images(arguments: argparse.Namespace) -> ImagePolicy:
    return ImagePolicy(
        arguments.image_form, arguments.image_quality, max_pixels=arguments.max_pixels, fetch=arguments.fetch_images
    )


def _source(arguments: argparse.Namespace, file: PairFile) -> str:
    if file.split is not None:
        return f"{arguments.items}@{arguments.items_revision}/{file.split}"
    return Path(arguments.items).name


def _no_number(name: str) -> Any:
    raise ValueError(name)  # NaN is no JSON; an endpoint would refuse every request


def _parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    named = {name: getattr(arguments, name) for name in OFFICIAL_PARAMETERS}
    parameters = {name: value for name, value in named.items() if value is not None}
    for text in arguments.extra:
        name, equals, value = text.partition("=")
        if not equals or name in _OWN_OPTIONS:
            raise JudgeError(
                _("--set {text}: give NAME=JSON; {names} cannot be set.", text=text, names=", ".join(_OWN_OPTIONS))
            )
        try:
            parameters[name] = json.loads(value, parse_constant=_no_number)
        except ValueError:
            parameters[name] = value
    return parameters
