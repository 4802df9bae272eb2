"""Configuration of a run: what its options say, and what its directory records. A run is resumed only with the same
one."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from random import SystemRandom
from typing import Any
from urllib.parse import urlsplit

from vlrb.common.json_files import read_object, write_json
from vlrb.judge import JudgeError
from vlrb.judge.pairs import BOTH, PairFile, read_pairs
from vlrb.judge.prompts import OFFICIAL_PARAMETERS, Prompt, find_prompt

RUN = "run.json"
CHAT, CLASSIFY, SCORE, SCORER = "chat", "classify", "score", "scorer"
APIS = (CHAT, CLASSIFY, SCORE)
_MAY_CHANGE = ("base_url", "engine", "items", "created")
_OWN_OPTIONS = ("model", "messages", "stream", "seed", "n")


@dataclass(frozen=True, slots=True)
class RunConfiguration:
    """Everything that decides what is asked. No key, no label."""

    api: str
    model: str
    base_url: str | None
    scorer: str | None
    votes: int
    order: str
    seed: int
    prompt: Prompt
    parameters: Mapping[str, Any]  # of sampling, as sent
    image_form: str
    benchmark: str
    items: str
    items_sha256: str
    pairs: int

    def to_json(self) -> dict[str, Any]:
        """Return what `run.json` holds."""
        fields = asdict(self)
        return {**fields, "prompt": {**fields["prompt"], "reading": self.prompt.reading, "sha256": self.prompt.sha256}}


def read_run(folder: Path) -> dict[str, Any] | None:
    """Return what a directory records about its run; None where there is none.

    Raises:
        CommandError: the record is damaged.
    """
    path = folder / RUN
    if not path.is_file():
        return None
    return read_object(path, *RunConfiguration.__dataclass_fields__)


def open_run(folder: Path, configuration: RunConfiguration, **more: Any) -> None:
    """Record a new run, or check that a recorded one is the same.

    Raises:
        JudgeError: the directory holds another run.
    """
    now: dict[str, Any] = json.loads(json.dumps(configuration.to_json()))
    recorded = read_run(folder)
    if recorded is None:
        write_json(folder / RUN, now | more)
    elif different := [name for name in now if name not in _MAY_CHANGE and recorded.get(name) != now[name]]:
        raise JudgeError(
            "{folder} holds a run with other settings ({seen}). Use the same, or another directory.",
            folder=folder,
            seen=", ".join(different),
        )


def configure(arguments: argparse.Namespace) -> tuple[RunConfiguration, PairFile]:
    """Return the run that the options describe, and its pairs.

    Raises:
        JudgeError: the options contradict one another, or the items cannot be read.
    """
    api = SCORER if arguments.scorer else arguments.api
    _require_named(arguments, api)
    votes, recorded = arguments.votes or (5 if api == CHAT else 1), read_run(arguments.output)
    if arguments.order == BOTH and votes % 2 and api == CHAT and recorded is None:
        raise JudgeError(
            "--order both asks as often in either order, so the votes are even: --votes {votes}.", votes=votes + 1
        )
    prompt, parameters = find_prompt(arguments.prompt), _parameters(arguments) if api == CHAT else {}
    file = read_pairs(arguments.items)
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
        image_form=arguments.image_form,
        benchmark=arguments.benchmark,
        items=Path(arguments.items).name if Path(arguments.items).is_file() else arguments.items,
        items_sha256=file.sha256,
        pairs=len(file.pairs),
    )
    return configuration, file


def _require_named(arguments: argparse.Namespace, api: str) -> None:
    url = arguments.base_url
    if api == SCORER:
        if url:
            raise JudgeError("--scorer needs no endpoint: give --base-url or --scorer, not both.")
        return
    if not arguments.model:
        raise JudgeError("--model is missing: the name under which the endpoint knows the model.")
    if not url:
        raise JudgeError("--base-url is missing: the address of the endpoint, or give --scorer MODULE:FUNCTION.")
    address = urlsplit(url)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise JudgeError(
            "--base-url {base_url} is not an address. Give one such as http://localhost:8000/v1.", base_url=url
        )
    if address.username or address.password or address.query:
        raise JudgeError("--base-url may hold no name, password or query: keys come from the environment.")


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
