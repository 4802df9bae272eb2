"""`vlrb judge export-inspect`: the journal of a run as a log of inspect_ai, `.json` or `.eval`.

A sample is one vote, an epoch the number of the vote. Images stay out: the prompt's text tells what was asked.
"""

from __future__ import annotations

import argparse
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vlrb.common.command_line import say
from vlrb.common.json_types import Json
from vlrb.common.messages import _
from vlrb.judge.commands.run_command import OK
from vlrb.judge.configuration import require_run, write_whole
from vlrb.judge.errors import JudgeError
from vlrb.judge.journal import JOURNAL, RecordedAnswer, read_journal
from vlrb.judge.pairs import PairFile, pairs_of_run
from vlrb.judge.plan import RequestKey
from vlrb.judge.prompts import Prompt

_SUFFIXES = (".json", ".eval")
_STOPS = {"stop": "stop", "length": "max_tokens", "max_tokens": "max_tokens", "content_filter": "content_filter"}


def add_command(commands: Any) -> None:
    """Add `export-inspect`."""
    parser = commands.add_parser("export-inspect", help=_("a log of inspect_ai from the journal"), allow_abbrev=False)
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("file", type=Path, metavar="FILE", help=_("ends in .json or .eval"))
    parser.add_argument("--items", metavar="FILE", help=_("the items, if they have moved"))
    parser.add_argument("--items-revision", metavar="COMMIT", help=_("of a Hub dataset"))
    parser.add_argument("--items-split", metavar="SPLIT", help=_("of a Hub dataset"))
    parser.set_defaults(run=export_command)


def export_command(arguments: argparse.Namespace) -> int:
    """Write the log. Returns the exit code."""
    path: Path = arguments.file
    if path.suffix not in _SUFFIXES:
        raise JudgeError(_("{path} must end in .json or .eval: the ending chooses the kind of log.", path=path))
    run = require_run(arguments.directory)
    file = pairs_of_run(
        arguments.directory, run,
        source=arguments.items, revision=arguments.items_revision, split=arguments.items_split,
    )  # fmt: skip
    answers, _events = read_journal(arguments.directory / JOURNAL)
    log = InspectLog(run, file, answers=answers)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, log.archive() if path.suffix == ".eval" else log.document())
    say(_("{answers:,} votes: {path}", answers=len(answers), path=path))
    return OK


@dataclass(frozen=True, slots=True)
class InspectLog:
    """A run in the terms of inspect_ai."""

    run: Mapping[str, Any]
    file: PairFile
    answers: Mapping[RequestKey, RecordedAnswer]

    def document(self) -> bytes:
        """Return the `.json` log."""
        return _encoded({**self._header(), "samples": list(self._samples())})

    def archive(self) -> bytes:
        """Return the `.eval` log."""
        out = io.BytesIO()
        header, summaries = self._header(), []
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            start = {"version": header["version"], "eval": header["eval"], "plan": header["plan"]}
            archive.writestr("_journal/start.json", _encoded(start))
            for sample in self._samples():
                archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", _encoded(sample))
                named = {name: sample[name] for name in ("id", "epoch", "target", "metadata")}
                summaries.append({**named, "input": sample["input"][0]["content"][:1000], "completed": True})
            archive.writestr("summaries.json", _encoded(summaries))
            archive.writestr("header.json", _encoded(header))
        return out.getvalue()

    def _header(self) -> Json:
        run, votes = self.run, self.run["votes"]
        created = datetime.fromtimestamp(run.get("created", 0), UTC).isoformat(timespec="seconds")
        complete = len(self.answers) >= len(self.file.pairs) * votes
        dataset = {"name": run["items"], "samples": len(self.file.pairs), "shuffled": False}
        return {
            "version": 2,
            "status": "success" if complete else "cancelled",
            "eval": {
                "created": created, "task": run["benchmark"] or "judge", "dataset": dataset, "model": run["model"],
                "config": {"epochs": votes}, "model_generate_config": _sampling(run["parameters"]),
                "metadata": {"prompt_sha256": run["prompt"]["sha256"], "order": run["order"], "seed": run["seed"]},
            },
            "plan": {"name": "plan", "steps": [], "config": {}},
            "stats": {"started_at": created, "completed_at": created, "model_usage": self._usage()},
        }  # fmt: skip

    def _usage(self) -> Json:
        given = list(self.answers.values())
        read = sum(answer.usage.prompt or 0 for answer in given)
        written = sum(answer.usage.completion or 0 for answer in given)
        return {self.run["model"]: {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}}

    def _samples(self) -> Iterator[Json]:
        prompt = _prompt(self.run["prompt"])
        counts = Counter(pair.id for pair in self.file.pairs)
        for key in sorted(self.answers):
            pair, answer = self.file.pairs[key.row], self.answers[key]
            if answer.score is not None or answer.choice is not None or key.response >= 0:
                raise JudgeError(
                    _("This run has scores or choices; a log of inspect_ai holds texts. Submit predictions.jsonl.")
                )
            text = prompt.render(pair.query, pair.responses, swapped=answer.swapped)
            yield {
                "id": pair.id if counts[pair.id] == 1 else f"{pair.id}-{key.row}",  # ids of samples are unique
                "epoch": key.vote + 1,
                "input": [{"role": "user", "content": text}],
                "target": "",
                "output": self._output(answer),
                "metadata": {
                    "swapped": answer.swapped, "id": pair.id, "item": pair.fingerprint, "reason": answer.reason,
                },
            }  # fmt: skip

    def _output(self, answer: RecordedAnswer) -> Json:
        model = self.run["model"]
        if answer.failed:
            return {"model": model, "choices": [], "completion": "", "error": answer.reason}
        message = {"role": "assistant", "content": answer.text or "", "source": "generate", "model": model}
        stop = _STOPS.get(answer.finish_reason or "stop", "unknown")
        read, written = answer.usage.prompt or 0, answer.usage.completion or 0
        return {
            "model": model, "choices": [{"message": message, "stop_reason": stop}], "completion": answer.text or "",
            "usage": {"input_tokens": read, "output_tokens": written, "total_tokens": read + written},
            "time": answer.seconds,
        }  # fmt: skip


def _prompt(recorded: Mapping[str, Any]) -> Prompt:
    """Return the prompt that a run records."""
    names = ("name", "template", "image_first", "reading", "without")
    return Prompt(**{name: recorded[name] for name in names})


def _sampling(parameters: Mapping[str, Any]) -> Json:
    known = ("temperature", "top_p", "max_tokens")
    return {name: parameters[name] for name in known if name in parameters}


def _encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True).encode()
