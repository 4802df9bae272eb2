"""`vlrb edition freeze`: verified pairs become a public folder without any label, and a private one with the labels."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pandas as pd

from vlrb.benchmarks.pairs import build_table
from vlrb.benchmarks.spec import MANIFEST as ITEMS
from vlrb.benchmarks.spec import RANKED, BenchmarkSpec
from vlrb.benchmarks.spec_file import known_benchmarks, load_spec
from vlrb.commitments import commit
from vlrb.common import atomic_files
from vlrb.common.command_line import CommandError
from vlrb.common.json_files import read_object, write_json
from vlrb.editions.data_card import HIDDEN, PUBLIC, card_parts, describe
from vlrb.editions.markdown_report import markdown
from vlrb.editions.pool import DROPPED, PoolPair, file_digest, read_pair_file, write_lines, write_text
from vlrb.editions.sources import follow
from vlrb.label_quality.annotation import PREFERENCES

_COLOURS = ("#b3541e", "#1b7f6b", "#6a4fb3", "#1f5fbf", "#8a6d00", "#a3195b", "#7a3b2e", "#3d6b1f")
QUESTIONS = (
    "id",
    "query",
    "response",
    "image",
    "category",
    "source",
    "licence",
    "canary",
)  # columns of a dataset of the Hub
VERSION = "v1"  # another one has another id
_CANARY = "Benchmark data: it must not be part of any training corpus. Canary GUID {}"


class EditionWriter:
    """Writes an edition into two new folders; they appear when they are whole.

    ``plan``: the options of `freeze`. ``agreement``, ``report``: of the verification and of the filter.
    """

    def __init__(
        self,
        plan: argparse.Namespace,
        pairs: Sequence[PoolPair],
        *,
        agreement: dict[str, Any],
        report: Mapping[str, Any] | None,
    ) -> None:
        self._plan, self._agreement, self._report = plan, agreement, report
        self._public: Path = plan.output / plan.id
        self._private: Path = plan.private / plan.id
        traits = pd.DataFrame(map(_traits, pairs))
        parts = split(traits, plan.hidden)
        means = traits.groupby(traits["id"].map(parts))[["difficulty", "words"]].mean()
        self._balance = [{"part": part, **row} for part, row in means.to_dict("index").items()]
        ordered = sorted(pairs, key=lambda pair: hashlib.sha256(pair["id"].encode()).digest())
        self._pairs = [{**pair, "split": parts[pair["id"]]} for pair in ordered]
        self._parts = {part: [pair for pair in self._pairs if pair["split"] == part] for part in (PUBLIC, HIDDEN)}
        self._revisions = {VERSION: self._pairs} | {f"{VERSION}-{k}": held for k, held in self._parts.items()}
        self._canary = _CANARY.format(uuid4())

    def write(self) -> dict[str, Any]:
        """Write both folders. Returns the card.

        Raises:
            CommandError: an edition of this id is there, or the folders lie within one another.
        """
        first, second = self._public.resolve(), self._private.resolve()
        if first == second or first.is_relative_to(second) or second.is_relative_to(first.parent):
            raise CommandError(
                f"Labels may not lie in {self._public.parent}, which is for the public. Name another --private."
            )
        if self._public.exists():
            raise CommandError(f"{self._public} is there already. Editions stay as they are: choose another id.")
        for folder in (self._public.parent, self._private.parent):
            folder.mkdir(parents=True, exist_ok=True)
        with (
            TemporaryDirectory(dir=self._public.parent) as for_all,
            TemporaryDirectory(dir=self._private.parent) as for_few,
        ):
            public, private = Path(for_all) / self._plan.id, Path(for_few) / self._plan.id
            public.mkdir()
            private.mkdir()
            card = self._write_parts(public, private)
            shutil.rmtree(self._private, ignore_errors=True)  # of an attempt that ended before the public folder
            private.replace(self._private)
            public.replace(self._public)
        return card

    def _write_parts(self, public: Path, private: Path) -> dict[str, Any]:
        spec = self._write_definition(public)
        revisions = {key: held for key, held in self._revisions.items() if held}
        table = build_table(replace(spec, fields=RANKED), revisions)  # the columns of the pool, not of the labels
        write_json(public / ITEMS, table.to_json())  # as a service reads them, in the order of fingerprints
        for part, held in self._parts.items():
            write_split(public / "hub", part, map(self._question, held))
        commitment = self._write_labels(private)
        plan, files = self._plan, sorted(path for path in public.rglob("*") if path.is_file())
        card = {
            "id": plan.id, "version": VERSION, "title": plan.title, "canary": self._canary, "retire": plan.retire,
            **describe(self._pairs), "balance": self._balance,
            "agreement": self._agreement | {"annotators": len(self._agreement["annotators"])}, "filter": self._report,
            "label_commitment": commitment,
            "sha256": {path.relative_to(public).as_posix(): file_digest(path) for path in files},
        }  # fmt: skip
        write_json(public / "card.json", card)
        text = markdown(plan.title, card_parts(card))
        write_card(public / "hub", text, title=plan.title, licence=self._licences())
        write_text(public / "README.md", text)
        return card

    def _licences(self) -> str:
        return "; ".join(sorted({pair["licence"] for pair in self._pairs}))

    def _write_definition(self, folder: Path) -> BenchmarkSpec:
        judges = [judge["judge"] for judge in self._report["judges"]] if self._report else []
        # Those that annotators choose from, and those of the public part: of hidden pairs nothing is told.
        public = {tag for pair in self._parts[PUBLIC] for tag in pair.get("tags", ())}
        tags, categories = sorted({*self._agreement["tags"], *public}), sorted({p["category"] for p in self._pairs})
        sizes = {
            key: {name: sum(pair["category"] == name for pair in held) for name in categories}
            for key, held in self._revisions.items()
        }
        plan = self._plan
        naming = {"id": plan.id, "title": plan.title, "licence": self._licences(), "citation": plan.citation}
        text = definition(naming, tags=tags, sizes=sizes, filtered_by=judges)
        write_text(folder / "spec.toml", text)
        return load_spec(plan.id, definitions=folder.parent)

    def _question(self, pair: PoolPair) -> dict[str, Any]:
        path = self._plan.pool / pair["image"]
        if not path.is_file():
            raise CommandError(f"There is no image {path}. Name the pool with --pool.")
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != pair["image_sha256"]:
            raise CommandError(f"The image {path} is not the one that was imported. Import its file again.")
        return {**pair, "image": {"bytes": data, "path": path.name}, "canary": self._canary}

    def _label(self, pair: PoolPair) -> dict[str, Any]:
        first, second = pair["response"]
        tags = list(pair.get("tags", ()))
        return {
            "id": pair["id"], "query": pair["query"], "response_a": first, "response_b": second,
            "category": pair["category"], "preferred": PREFERENCES[pair["preferred"]], "tags": tags,
            "split": pair["split"], "human_ranking": [pair["preferred"], 1 - pair["preferred"]],
            "human_error_analysis": tags,
        }  # fmt: skip

    def _write_labels(self, folder: Path) -> str:
        """Write the label revision; returns the commitment to it."""
        write_lines(folder / "labels.jsonl", map(self._label, self._pairs))
        for part, held in self._parts.items():
            write_lines(folder / f"labels-{part}.jsonl", map(self._label, held))
        salt = secrets.token_bytes(32)
        individual = self._plan.verified / "individual.jsonl"
        if individual.is_file():
            atomic_files.write(folder / individual.name, individual.read_bytes())
        atomic_files.write(folder / "salt", salt.hex().encode())
        return commit(file_digest(folder / "labels.jsonl"), salt)


def split(pairs: pd.DataFrame, share: float) -> dict[str, str]:
    """Return id -> PUBLIC or HIDDEN; the hidden part has its share of all pairs.

    Pairs are ordered by what both parts should be alike in; every so many are hidden (systematic sampling). So each
    category and source has its share within one pair, and the parts differ less than random ones would.

    ``pairs``: id, category, source, difficulty (share of filter runs that are wrong), words.
    """
    ordered = pairs.sort_values(["category", "source", "difficulty", "words", "id"])["id"]
    size, count = len(pairs), int(len(pairs) * share + 0.5)
    middle = size // 2  # where the first one of a step would be the lowest of its neighbours
    hidden = [((place + 1) * count + middle) // size > (place * count + middle) // size for place in range(size)]
    return {name: HIDDEN if chosen else PUBLIC for name, chosen in zip(ordered, hidden, strict=True)}


def _traits(pair: PoolPair) -> dict[str, Any]:
    """Return what a split is matched by. Difficulty: the share of filter runs that are wrong."""
    votes = pair.get("votes") or {}
    difficulty = votes["wrong"] / votes["runs"] if votes.get("runs") else 0.0
    words = sum(len(text.split()) for text in pair["response"])
    return {**{name: pair[name] for name in ("id", "category", "source")}, "difficulty": difficulty, "words": words}


def definition(
    naming: Mapping[str, str],
    *,
    tags: Sequence[str],
    sizes: Mapping[str, Mapping[str, int]],
    filtered_by: Sequence[str],
) -> str:
    """Return the text of a definition.

    ``naming``: id, title, licence and citation. ``tags``: error tags that pairs of any category may have. ``sizes``:
    edition key -> category -> pairs; the first edition is the whole one.
    """
    categories = [
        {"key": key, "title": key.replace("-", " ").capitalize(), "colour": colour, "tagged": bool(tags)}
        for key, colour in zip(next(iter(sizes.values())), cycle(_COLOURS), strict=False)
    ]
    fields = {
        "id": "id", "question": "query", "responses": ["response_a", "response_b"], "category": ["category"],
        "label": "preferred", "label_values": {"a": "first", "b": "second"},
    }  # fmt: skip
    editions = [
        {"key": key, "title": f"{naming['title']}, {key}", "pairs": sum(held.values()), "sizes": held}
        for key, held in sizes.items()
    ]
    entries: dict[str, Any] = {
        **naming, "dataset": "", "public_labels": False, "drop_from_questions": DROPPED,
        "verdict_format": "official-sentence", "tags": tags, "tag_names": {tag: tag for tag in tags},
        "filtered_by": filtered_by, "fields": fields, "categories": categories, "editions": editions,
        "overalls": [
            {"key": "micro", "title": "All pairs alike", "kind": "micro"},
            {"key": "mean", "title": "Mean of the categories", "kind": "mean"},
        ],
    }  # fmt: skip
    return "".join(f"{name} = {_value(value)}\n" for name, value in entries.items())


def _value(value: Any) -> str:
    """Return a TOML value; escapes of strings are those of JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_value(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


_ID = re.compile(r"[a-z0-9][a-z0-9-]{1,39}")
_AGREEMENT = ("answers", "alpha", "mean_kappa", "tags", "annotators", "pairs")
_FILTER = ("rule", "pairs", "judges")


def add_freeze_command(commands: Any) -> None:
    """Add `freeze`."""
    parser = commands.add_parser("freeze", help="freeze verified pairs as an edition", allow_abbrev=False)
    parser.add_argument("id", metavar="ID", help="of the benchmark: small letters, digits, dashes")
    parser.add_argument("--verified", type=Path, required=True, metavar="DIR", help="of `verify import`")
    parser.add_argument("--pool", type=Path, required=True, metavar="DIR", help="where the images lie")
    parser.add_argument("--filter", type=Path, metavar="FILE", help="filter.json of the filter")
    parser.add_argument("--title", required=True, help="for pages")
    parser.add_argument("--citation", default="", metavar="TEXT", help="BibTeX")
    parser.add_argument("--hidden", type=float, default=0.5, metavar="SHARE", help="of pairs with hidden labels (0.5)")
    parser.add_argument("--retire", default="", metavar="DATE", help="when the labels are to be published: 2027-12-31")
    parser.add_argument("--partial", action="store_true", help="although some pairs are not decided")
    parser.add_argument("--output", type=Path, default=Path("editions"), metavar="DIR", help="public (editions/)")
    parser.add_argument("--private", type=Path, default=Path("private"), metavar="DIR", help="labels (private/)")
    parser.set_defaults(run=freeze_command)


def freeze_command(arguments: argparse.Namespace) -> int:
    """Write an edition. Returns the exit code."""
    _check(arguments)
    verified: Path = arguments.verified
    report = read_object(arguments.filter, *_FILTER) if arguments.filter else None
    left = len(read_pair_file(verified / "open.jsonl"))
    if left and not arguments.partial:
        raise CommandError(f"Not decided yet: {left:,} ({verified / 'open.jsonl'}). Decide them, or give --partial.")
    pairs = read_pair_file(verified / "verified.jsonl")
    if not pairs or any(pair.get("preferred") is None for pair in pairs):
        raise CommandError(f"{verified} holds no verified pairs, or one without `preferred`: import labels again.")
    agreement = read_object(verified / "agreement.json", *_AGREEMENT)
    card = EditionWriter(arguments, pairs, agreement=agreement, report=report).write()
    print(f"{card['pairs']:,} pairs: {card['public']:,} with public labels, {card['hidden']:,} with hidden ones.")
    private = arguments.private / arguments.id
    print(f"Public: {arguments.output / arguments.id}. Labels: {private}; keep them private.")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if not _ID.fullmatch(arguments.id):
        raise CommandError(f"The id {arguments.id!r}: give 2 to 40 small letters, digits and dashes, no dash first.")
    if arguments.id in known_benchmarks():
        raise CommandError(f"There is a benchmark {arguments.id}. Old editions stay: choose another id.")
    if not 0 <= arguments.hidden <= 1:
        raise CommandError(f"--hidden {arguments.hidden}: give a share from 0 to 1.")


def write_split(folder: Path, name: str, questions: Iterable[Mapping[str, Any]]) -> None:
    """Write one split as parquet; images are objects with ``bytes`` and ``path``."""
    from datasets import Dataset, Features, Image, List, Value

    text = Value("string")
    kinds = {**dict.fromkeys(QUESTIONS, text), "response": List(text), "image": Image()}
    held = [{column: row.get(column) for column in QUESTIONS} for row in follow(questions, f"Writing {name}")]
    path = folder / "data" / f"{name}-00000-of-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    Dataset.from_list(held, Features(kinds)).to_parquet(path)


def write_card(folder: Path, body: str, *, title: str, licence: str) -> None:
    """Write README.md with the header that the Hub reads."""
    from huggingface_hub import DatasetCardData

    files = [{"split": name, "path": f"data/{name}-*.parquet"} for name in (PUBLIC, HIDDEN)]
    configs = [{"config_name": "default", "data_files": files}]
    header = DatasetCardData(pretty_name=title, license="other", license_name=licence, configs=configs)
    write_text(folder / "README.md", f"---\n{header.to_yaml()}\n---\n\n{body}")
