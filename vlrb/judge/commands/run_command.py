"""`vlrb.judge run`: asks for what is open, then writes the predictions."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vlrb.common.command_line import INTERRUPTED, lines, say
from vlrb.common.messages import _
from vlrb.judge.configuration import CHAT, RunConfiguration, keep_prices, open_run, write_json
from vlrb.judge.errors import JudgeError
from vlrb.judge.journal import JOURNAL, REFUSED_PARAMETER, Journal, busy_seconds
from vlrb.judge.options import configure, read_budget, read_prices
from vlrb.judge.pairs import PairFile
from vlrb.judge.plan import RequestKey, keys
from vlrb.judge.predictions import dry_run, write_predictions
from vlrb.judge.progress import duration
from vlrb.judge.texts import as_money
from vlrb.judge.totals import Prices, describe

OK, OPEN = 0, 1
REPORT = "report.json"
DEFAULT_KEY = "OPENAI_API_KEY"


def run_command(arguments: argparse.Namespace) -> int:
    """Run the judge, or go on with a run. Returns the exit code."""
    key = _key(arguments)
    budget = read_budget(arguments)
    pointwise_scorer = _scorer_is_pointwise(arguments.scorer) if arguments.scorer else None
    configuration, file = configure(arguments, scores_pairwise=pointwise_scorer is False)
    arguments.output.mkdir(parents=True, exist_ok=True)
    journal = Journal(arguments.output)
    try:
        open_run(arguments.output, configuration, **about_this_start(arguments, file))
        keep_prices(arguments.output, read_prices(arguments, arguments.output))
        pointwise = configuration.pointwise if pointwise_scorer is None else pointwise_scorer
        start = RunStart(arguments, configuration, file=file, journal=journal, pointwise=pointwise, key=key)
        _check_journal(journal, file)
        return start.go(arguments.limit, budget)
    finally:
        journal.close()


def _key(arguments: argparse.Namespace) -> str | None:
    name = arguments.api_key_env or DEFAULT_KEY
    key = arguments.variables.get(name, "").strip()
    if arguments.api_key_env and not key:
        raise JudgeError(_("The environment variable {name} is not set.", name=name))
    return key or None


def _scorer_is_pointwise(name: str) -> bool:
    from vlrb.judge.askers import load_scorer, takes_one_response

    return takes_one_response(load_scorer(name))


def _check_journal(journal: Journal, file: PairFile) -> None:
    for answer in journal.answers.values():
        row = answer.key.row
        if row >= len(file.pairs) or not file.pairs[row].fingerprint.startswith(answer.item):
            raise JudgeError(
                _("The journal has an answer for row {row}, which is another pair in this items file.", row=row)
            )


def about_this_start(arguments: argparse.Namespace, file: PairFile) -> dict[str, Any]:
    """Return what a new run records beside its settings."""
    path = Path(arguments.items)
    items = str(path.resolve()) if path.is_file() else arguments.items
    start: dict[str, Any] = {"engine": engine_versions(), "created": round(time.time(), 3), "items_path": items}
    if file.split is not None:
        start |= {"items_revision": arguments.items_revision, "items_split": file.split}
    return start


def engine_versions() -> dict[str, str]:
    """Return the libraries that ask, with their versions."""
    from importlib.metadata import version

    return {name: version(name) for name in ("openai", "tenacity")}


class RunStart:
    """One start of a run: what is known when it begins."""

    def __init__(
        self, arguments: argparse.Namespace, configuration: RunConfiguration, *, file: PairFile, journal: Journal,
        pointwise: bool, key: str | None,
    ) -> None:  # fmt: skip
        self._arguments, self._configuration, self._file = arguments, configuration, file
        self._journal, self._pointwise, self._key = journal, pointwise, key
        self._folder: Path = arguments.output

    def go(self, limit: int | None, budget: Any) -> int:
        """Ask for what is open among the first pairs, write the predictions. Returns the exit code."""
        pairs = self._file.pairs[:limit]
        wanted = list(keys(pairs, self._configuration.votes, pointwise=self._pointwise))
        again = self._arguments.retry_failed
        answers = self._journal.answers
        remaining = [key for key in wanted if key not in answers or (again and answers[key].failed)]
        began = time.monotonic()
        stopped = self._ask(remaining, wanted, budget=budget) if remaining else None
        got = sum(key in answers for key in remaining)
        pace = (time.monotonic() - began) / got if got else None
        run = FinishedRun(
            self._folder,
            self._configuration.to_json(),
            file=self._file,
            journal=self._journal,
            pointwise=self._pointwise,
        )
        prices = read_prices(self._arguments, self._folder)
        return run.tell(len(pairs), wanted, prices=prices, stopped=stopped, as_json=self._arguments.json, pace=pace)

    def _ask(self, remaining: Sequence[RequestKey], wanted: Sequence[RequestKey], *, budget: Any) -> str | None:
        """Get what remains. Returns why some of it is still open; None if nothing is."""
        from vlrb.judge.engine import RunStopped

        try:
            engine = asyncio.run(self._run_engine(remaining, wanted, budget=budget))
            engine.check_stop()  # Ctrl-C may come while connections and threads end
        except RunStopped as stopped:
            return str(stopped)
        except (KeyboardInterrupt, asyncio.CancelledError):
            return _INTERRUPTED
        return None

    async def _run_engine(self, remaining: Sequence[RequestKey], wanted: Sequence[RequestKey], *, budget: Any) -> Any:
        """Get what remains. Returns the engine, which may have been stopped meanwhile."""
        from vlrb.judge.engine import EngineLimits, JudgeEngine
        from vlrb.judge.progress import ProgressLine

        options = self._arguments
        asker = self._asker()
        prices = read_prices(options, self._folder)
        limits = EngineLimits(
            options.concurrency, options.attempts, first_wait=options.retry_wait, budget=budget, prices=prices
        )
        engine = JudgeEngine(self._configuration, self._file.pairs, asker=asker, journal=self._journal, limits=limits)
        progress = ProgressLine(len(wanted), len(wanted) - len(remaining), prices=limits.prices)
        _stop_on_signals(engine)
        try:
            await engine.run(remaining, progress)
        finally:
            await asker.close()
        return engine

    def _asker(self) -> Any:
        from vlrb.judge.askers import ChatAsker, ScoreAsker, ScorerAsker
        from vlrb.judge.endpoint import Endpoint

        configuration = self._configuration
        if configuration.scorer:
            return ScorerAsker(configuration.scorer)
        endpoint = Endpoint(str(configuration.base_url), self._key, timeout=self._arguments.timeout)
        if configuration.api == CHAT:
            return ChatAsker(configuration, endpoint, journal=self._journal)
        return ScoreAsker(configuration, endpoint)


class FinishedRun:
    """What a start leaves behind: a report, and the predictions once nothing is open."""

    def __init__(
        self, folder: Path, recorded: Mapping[str, Any], *, file: PairFile, journal: Journal, pointwise: bool
    ) -> None:
        self._folder, self._recorded, self._file, self._journal = folder, recorded, file, journal
        self._pointwise = pointwise

    def tell(
        self, pairs: int, wanted: Sequence[RequestKey], *, prices: Prices,  stopped: str | None, as_json: bool,
        pace: float | None = None,
    ) -> int:  # fmt: skip
        """Write and print what there is. `pace`: seconds an answer took of this start. Returns the exit code."""
        report = self._report(pairs, wanted, prices=prices)
        of_all = len(wanted) * self._recorded["pairs"] / pairs
        report["seconds_of_all"] = round(pace * of_all, 1) if pace is not None else None
        write_json(self._folder / REPORT, report)
        if stopped is None:
            sentences = [*self._write(pairs, report), *self._nothing_but_failures(report, wanted)]
        else:
            sentences = [stopped, _("Every recorded answer is kept. Run the same command to continue.")]
        print(json.dumps(report | {"stopped": stopped}) if as_json else lines([*readable(report), *sentences]))
        return OK if stopped is None else INTERRUPTED if stopped == _INTERRUPTED else OPEN

    def _nothing_but_failures(self, report: Mapping[str, Any], wanted: Sequence[RequestKey]) -> Iterator[str]:
        if wanted and report["failed"] == report["wanted"]:
            yield _(
                "Every vote failed, the first with: {reason}. Fix that, then ask again with --retry-failed.",
                reason=self._journal.answers[wanted[0]].reason,
            )

    def _write(self, pairs: int, report: Mapping[str, Any]) -> list[str]:
        run = run_metadata(self._recorded, self._journal.events, report=report, pointwise=self._pointwise)
        chosen = self._file.pairs[:pairs]
        path = write_predictions(self._folder, self._file, pairs=chosen, answers=self._journal.answers, run=run)
        return [_("Written: {path}", path=path), *dry_run(path, self._recorded["benchmark"])]

    def _report(self, pairs: int, wanted: Sequence[RequestKey], *, prices: Prices) -> dict[str, Any]:
        answers = [self._journal.answers[key] for key in wanted if key in self._journal.answers]
        reading = self._recorded["prompt"]["reading"]
        result = describe(answers, wanted=len(wanted), reading=reading, prices=asdict(prices))
        if result["cost_of_all"] is not None:
            result["cost_of_all"] *= self._recorded["pairs"] / pairs
        result["wall_seconds"] = busy_seconds(self._folder / JOURNAL) or None
        return result | {"pairs": pairs, "pairs_in_items": self._recorded["pairs"], "at": round(time.time(), 3)}


_INTERRUPTED = _("Interrupted.")


def run_metadata(
    recorded: Mapping[str, Any], events: Sequence[Mapping[str, Any]], *, report: Mapping[str, Any], pointwise: bool
) -> dict[str, Any]:
    """Return what the first line of the predictions says about their run. No address, no key."""
    kept = ("api", "model", "votes", "order", "seed", "parameters", "images", "benchmark", "items", "items_sha256")
    prompt = recorded["prompt"]
    refused = [
        {name: event.get(name) for name in ("parameter", "renamed_to")}
        for event in events
        if event["event"] == REFUSED_PARAMETER
    ]
    used = ("requests", "prompt_tokens", "completion_tokens", "reasoning_tokens", "seconds_per_request", "cost",
            "wall_seconds")  # fmt: skip
    return {
        **{name: recorded[name] for name in kept},
        "prompt": {"name": prompt["name"], "sha256": prompt["sha256"]},
        "reading": prompt["reading"],
        "pointwise": pointwise,
        "refused_parameters": refused,
        "engine": engine_versions(),
        "usage": {name: report[name] for name in used},
        "failed": report["failed"],
    }


def _stop_on_signals(engine: Any) -> None:
    loop, main = asyncio.get_running_loop(), asyncio.current_task()
    asked = False

    def handle() -> None:
        nonlocal asked
        if asked and main is not None:
            main.cancel()
            return
        asked = True
        engine.stop(_INTERRUPTED)
        say(_("\nStopping after the answers in flight. Ctrl-C once more drops these."), file=sys.stderr, flush=True)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, handle)


def readable(report: Mapping[str, Any]) -> list[str]:
    """Return the lines of a report for people."""
    done = _(
        "{answers:,} of {wanted:,} answers, {failed:,} failed votes",
        answers=report["answers"],
        wanted=report["wanted"],
        failed=report["failed"],
    )
    reasons = [
        _("  {count:,} failed with: {reason}", count=count, reason=reason)
        for reason, count in report["failure_reasons"].items()
    ]
    return [done, *reasons, *_verdicts(report), *_expense(report)]


def _verdicts(report: Mapping[str, Any]) -> Iterator[str]:
    if report["empty"] or report["truncated"]:
        yield _(
            "  empty               {empty:,}, cut at the token limit {truncated:,}",
            empty=report["empty"],
            truncated=report["truncated"],
        )
    if report["parse_rate"] is not None:
        yield _("  readable verdicts   {share:.1%}", share=report["parse_rate"])
    if report["first_shown_rate"] is not None:
        yield _("  picked first answer {share:.1%} of the time (50% is unbiased)", share=report["first_shown_rate"])


def _expense(report: Mapping[str, Any]) -> Iterator[str]:
    yield _(
        "  requests            {requests:,}; tokens: {prompts:,} of prompts, {replies:,} of replies",
        requests=report["requests"],
        prompts=report["prompt_tokens"],
        replies=report["completion_tokens"],
    )
    if report["seconds_per_request"] is not None:
        yield _time_of_a_request(report["seconds_per_request"], report.get("seconds_of_all"))
    if report["cost"] is not None:
        cost, whole = as_money(report["cost"]), as_money(report["cost_of_all"])
        yield _("  cost                {cost}; of the whole run about {whole}", cost=cost, whole=whole)


def _time_of_a_request(seconds: float, of_all: float | None) -> str:
    if of_all is None:
        return _("  time of a request   {seconds:g} s", seconds=seconds)
    return _(
        "  time of a request   {seconds:g} s; the whole run takes about {duration}",
        seconds=seconds,
        duration=duration(of_all),
    )
