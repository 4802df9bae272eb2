"""`vlrb.judge batch export|import`: requests as files for a batch service, and its results into the journal."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vlrb.common.command_line import say
from vlrb.common.messages import _, ngettext
from vlrb.judge import JudgeError
from vlrb.judge.batch_files import LIMITS, BatchResult, custom_id, image_of, read_result, request_line, split
from vlrb.judge.configuration import RunConfiguration, keep_prices, open_run, read_file, require_run, write_json
from vlrb.judge.journal import REFUSED_PARAMETER, Journal, RecordedAnswer, short
from vlrb.judge.options import add_price_options, add_question_options, configure, read_prices
from vlrb.judge.pairs import PairFile, RequestKey, is_swapped, keys, pairs_of_run
from vlrb.judge.parameters import ParameterChanges
from vlrb.judge.report import OK, FinishedRun, about_this_start

BATCH = "batch"
_EXPORT = "export.json"


def add_commands(commands: Any) -> None:
    """Add `batch export` and `batch import` to the subparsers of a command line."""
    batch = commands.add_parser("batch", help=_("batch files of OpenAI, vLLM and Anthropic"))
    kinds = batch.add_subparsers(dest="batch", required=True, metavar="export|import")
    export = kinds.add_parser("export", help=_("write what is open as batch files"), allow_abbrev=False)
    export.add_argument("--format", choices=tuple(LIMITS), required=True, help=_("of the files"))
    export.add_argument("--retry-failed", action="store_true", help=_("also votes that are recorded as failed"))
    add_question_options(export)
    export.set_defaults(run=export_command)
    take = kinds.add_parser("import", help=_("take results into the run"), allow_abbrev=False)
    take.add_argument("directory", type=Path, metavar="DIR")
    take.add_argument("files", type=Path, nargs="+", metavar="FILE", help=_("results, errors too"))
    take.add_argument("--items", metavar="FILE", help=_("the items, if they have moved"))
    take.add_argument("--json", action="store_true", help=_("print the summary as JSON"))
    add_price_options(take)
    take.set_defaults(run=import_command)


def export_command(arguments: argparse.Namespace) -> int:
    """Write the open requests of a run. Returns the exit code."""
    configuration, file = configure(arguments)
    folder: Path = arguments.output
    (folder / BATCH).mkdir(parents=True, exist_ok=True)
    with contextlib.closing(Journal(folder)) as journal:
        open_run(folder, configuration, **about_this_start(arguments))
        wanted = keys(file.pairs[: arguments.limit], configuration.votes, pointwise=False)
        remaining = journal.open_of(wanted, failed=arguments.retry_failed)
        changes = ParameterChanges(configuration.parameters, journal.events_of(REFUSED_PARAMETER))
        sent = replace(configuration, parameters=changes.now)
        written = _write(folder / BATCH, arguments.format, configuration=sent, file=file, remaining=remaining)
        exported = {"format": arguments.format, "pairs": len(file.pairs[: arguments.limit])}
        write_json(folder / BATCH / _EXPORT, exported)
    asked = ngettext("{n:,} request", "{n:,} requests", len(remaining))
    into = ngettext("{n:,} file", "{n:,} files", len(written))
    say(_("{requests} in {files}", requests=asked, files=into))
    print("\n".join(map(str, written)))
    say(_("When the results are there: vlrb judge batch import {folder} RESULTS...", folder=folder))
    return OK


def _write(
    folder: Path, form: str, *, configuration: RunConfiguration, file: PairFile, remaining: Sequence[RequestKey]
) -> list[Path]:
    for old in folder.glob(f"{form}-*.jsonl"):
        old.unlink()
    written: list[Path] = []
    with contextlib.ExitStack() as stack:
        for number, line in split(_lines(form, configuration, file=file, remaining=remaining), LIMITS[form]):
            if number > len(written):
                stack.close()
                written.append(folder / f"{form}-{number:03}.jsonl")
                out = stack.enter_context(written[-1].open("wb"))
            out.write(line)
    return written


def _lines(
    form: str, configuration: RunConfiguration, *, file: PairFile, remaining: Sequence[RequestKey]
) -> Iterator[bytes]:
    row, image = -1, ""
    for key in remaining:
        pair = file.pairs[key.row]
        if key.row != row:
            row, image = key.row, image_of(pair, configuration)
        yield (
            json.dumps(request_line(form, configuration, pair=pair, key=key, image=image), ensure_ascii=False).encode()
            + b"\n"
        )


def import_command(arguments: argparse.Namespace) -> int:
    """Take results into the journal; write the predictions if nothing is open. Returns the exit code."""
    folder: Path = arguments.directory
    recorded = require_run(folder)
    file = pairs_of_run(folder, recorded, source=arguments.items)
    results = [result for path in arguments.files for result in _results(path)]
    with contextlib.closing(Journal(folder)) as journal:
        taken = _take(results, recorded, file=file, journal=journal)
        if not arguments.json:
            say(_("{taken:,} of {results:,} results are new.", taken=taken, results=len(results)))
        pairs = _exported_pairs(folder, len(file.pairs))
        wanted = list(keys(file.pairs[:pairs], recorded["votes"], pointwise=False))
        left = sum(key not in journal.answers for key in wanted)
        open_votes = ngettext(
            "{n:,} vote is open. Import its result, or export it again.",
            "{n:,} votes are open. Import their results, or export them again.",
            left,
        )
        run = FinishedRun(folder, recorded, file=file, journal=journal, pointwise=False)
        prices, stopped = read_prices(arguments, folder), open_votes if left else None
        keep_prices(folder, prices)
        return run.tell(pairs, wanted, prices=prices, stopped=stopped, as_json=arguments.json)


def _results(path: Path) -> Iterator[BatchResult]:
    if not path.is_file():
        raise JudgeError("There is no file {path}.", path=path)
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                result = read_result(json.loads(line))
            except (ValueError, RecursionError):
                raise JudgeError("{path}, line {number}: this is not JSON.", path=path, number=number) from None
            if result is None:
                raise JudgeError(
                    "{path}, line {number}: this is not a result of `judge batch export` (custom_id r0-v0).",
                    path=path,
                    number=number,
                )
            yield result


def _take(results: Sequence[BatchResult], recorded: dict[str, Any], *, file: PairFile, journal: Journal) -> int:
    taken = 0
    for result in results:
        key = result.key
        if key.row >= len(file.pairs) or key.vote >= recorded["votes"]:
            raise JudgeError("Row {row}, vote {vote} is not a vote of this run.", row=key.row, vote=key.vote)
        known = journal.answers.get(key)
        pair = file.pairs[key.row]
        swapped = is_swapped(pair, key.vote, order=recorded["order"], seed=recorded["seed"])
        if result.name != custom_id(key, pair, swapped=swapped):
            raise JudgeError(
                "The result {name} is of another run: of another pair, or in another order.", name=result.name
            )
        fields = result.fields
        if fields is None or (known is not None and (fields.get("failed") or not known.failed)):
            continue
        journal.append(RecordedAnswer(key, short(pair.fingerprint), swapped=swapped, **fields))
        taken += 1
    return taken


def _exported_pairs(folder: Path, all_pairs: int) -> int:
    path = folder / BATCH / _EXPORT
    return int(read_file(path, "pairs")["pairs"]) if path.is_file() else all_pairs
