"""Figures and predictions of a run, as each start leaves them behind."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vlrb.common.command_line import INTERRUPTED as INTERRUPTED_CODE
from vlrb.common.command_line import lines
from vlrb.common.messages import _
from vlrb.judge.journal import JOURNAL, Journal, busy_seconds
from vlrb.judge.pairs import PairFile, RequestKey
from vlrb.judge.predictions import dry_run, write_predictions
from vlrb.judge.texts import as_money
from vlrb.judge.totals import Prices, describe

OK, OPEN = 0, 1
INTERRUPTED = _("Interrupted. Run the same command to continue.")


def about_this_start() -> dict[str, Any]:
    """Return what a new run records beside its settings."""
    return {"engine": engine_versions(), "created": round(time.time(), 3)}


def engine_versions() -> dict[str, str]:
    """Return the libraries that ask, with their versions."""
    return {name: version(name) for name in ("openai", "tenacity")}


class FinishedRun:
    """What a start leaves behind: figures, and the predictions once nothing is open."""

    def __init__(
        self, folder: Path, recorded: Mapping[str, Any], *, file: PairFile, journal: Journal, pointwise: bool
    ) -> None:
        self._folder, self._recorded, self._file, self._journal = folder, recorded, file, journal
        self._pointwise = pointwise

    def tell(
        self, pairs: int, wanted: Sequence[RequestKey], *, prices: Prices, stopped: str | None, as_json: bool
    ) -> int:
        """Write and print what there is. Returns the exit code."""
        answers = [self._journal.answers[key] for key in wanted if key in self._journal.answers]
        reading = self._recorded["prompt"]["reading"]
        report = describe(answers, wanted=len(wanted), reading=reading, prices=prices)
        if report["cost_of_all"] is not None:
            report["cost_of_all"] *= self._recorded["pairs"] / pairs
        report["wall_seconds"] = busy_seconds(self._folder / JOURNAL) or None
        if stopped is None:
            sentences = [*self._write(pairs, report), *self._nothing_but_failures(report, wanted)]
        else:
            sentences = [stopped, _("Every recorded answer is kept.")]
        print(json.dumps(report | {"stopped": stopped}) if as_json else lines([*readable(report), *sentences]))
        return OK if stopped is None else INTERRUPTED_CODE if stopped == INTERRUPTED else OPEN

    def _nothing_but_failures(self, report: Mapping[str, Any], wanted: Sequence[RequestKey]) -> Iterator[str]:
        if wanted and report["failed"] == report["wanted"]:
            yield _(
                "Every vote failed, the first with: {reason}. Fix that, then ask again with --retry-failed.",
                reason=self._journal.answers[wanted[0]].reason,
            )

    def _write(self, pairs: int, report: Mapping[str, Any]) -> list[str]:
        run = run_metadata(self._recorded, report=report, pointwise=self._pointwise)
        chosen = self._file.pairs[:pairs]
        path = write_predictions(self._folder, self._file, pairs=chosen, answers=self._journal.answers, run=run)
        return [_("Written: {path}", path=path), *dry_run(path, self._recorded["benchmark"])]


def run_metadata(recorded: Mapping[str, Any], *, report: Mapping[str, Any], pointwise: bool) -> dict[str, Any]:
    """Return what the first line of the predictions says about their run. No address, no key."""
    kept = ("api", "model", "votes", "order", "seed", "parameters", "images", "benchmark", "items", "items_sha256")
    prompt = recorded["prompt"]
    used = ("requests", "prompt_tokens", "completion_tokens", "seconds_per_request", "cost",
            "wall_seconds")  # fmt: skip
    return {
        **{name: recorded[name] for name in kept},
        "prompt": {"name": prompt["name"], "sha256": prompt["sha256"]},
        "reading": prompt["reading"],
        "pointwise": pointwise,
        "engine": engine_versions(),
        "usage": {name: report[name] for name in used},
        "failed": report["failed"],
    }


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
        yield _("  time of a request   {seconds:g} s", seconds=report["seconds_per_request"])
    if report["cost"] is not None:
        cost, whole = as_money(report["cost"]), as_money(report["cost_of_all"])
        yield _("  cost                {cost}; of the whole run about {whole}", cost=cost, whole=whole)
