"""An edition from verified pairs: a public folder without any label, and a private one with the labels."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from vlrb.benchmarks.items import build_table
from vlrb.benchmarks.spec import MANIFEST as ITEMS
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec
from vlrb.commitments import commit
from vlrb.common import atomic_files
from vlrb.common.messages import _
from vlrb.editions.errors import CurateError
from vlrb.editions.folder.card_page import card_page
from vlrb.editions.folder.data_card import card_text, describe, public_agreement
from vlrb.editions.folder.definition import EditionDefinition, EditionNaming
from vlrb.editions.folder.hub_layout import LABEL_FEATURES, QUESTION_FEATURES, write_card, write_split
from vlrb.editions.pools.edition_signatures import SIGNATURES, write_signatures
from vlrb.editions.pools.near_duplicates import ComparedPair
from vlrb.editions.pools.pairs import PoolPair
from vlrb.editions.pools.pool import write_json, write_lines
from vlrb.editions.splitting import HIDDEN, PUBLIC, SplitTraits, balance, split
from vlrb.label_quality.annotation import PREFERENCES
from vlrb.pairs.labelled_pairs import read_pairs
from vlrb.pairs.pair_table import pair_manifest

_CANARY = "Benchmark data: it must not be part of any training corpus. Canary GUID {}"


@dataclass(frozen=True, slots=True)
class EditionPlan:
    """What an edition is called and how it is divided. ``retire``: an ISO date, or ""."""

    id: str
    version: str
    title: str
    citation: str
    hidden_share: float
    seed: int
    retire: str


@dataclass(frozen=True, slots=True)
class EditionInput:
    """Verified pairs, what is known about them, and where their images lie."""

    pairs: Sequence[Mapping[str, Any]]
    agreement: Mapping[str, Any]
    filter: Mapping[str, Any] | None
    images: Path
    individual: Path


class EditionWriter:
    """Writes an edition into two new folders; they appear when they are whole."""

    def __init__(self, plan: EditionPlan, given: EditionInput, *, public: Path, private: Path) -> None:
        self._plan, self._given = plan, given
        self._public, self._private = public / plan.id, private / plan.id
        self._pairs = sorted(
            given.pairs, key=lambda pair: hashlib.sha256(f"{plan.seed}:{pair['id']}".encode()).digest()
        )
        traits = [_traits(pair) for pair in self._pairs]
        self._parts = split(traits, plan.hidden_share, seed=plan.seed)
        self._balance = balance(traits, self._parts)
        self._canary = _CANARY.format(uuid4())

    def write(self) -> dict[str, Any]:
        """Write both folders. Returns the card.

        Raises:
            CurateError: an edition of this id is there, or the folders lie within one another.
        """
        _check_apart(self._public, self._private)
        if self._public.exists():
            raise CurateError(
                _("{public} is there already. Editions stay as they are: choose another id.", public=self._public)
            )
        public, private = _unfinished(self._public), _unfinished(self._private)
        card = self._write_parts(public, private)
        shutil.rmtree(self._private, ignore_errors=True)  # of an attempt that ended before the public folder
        private.replace(self._private)
        public.replace(self._public)
        public.parent.rmdir()
        private.parent.rmdir()
        return card

    def _write_parts(self, public: Path, private: Path) -> dict[str, Any]:
        labels = [self._label(pair) for pair in self._pairs]
        spec = self._write_definition(public)
        self._write_manifest(public, spec, labels=labels)
        self._write_table(public, spec)
        compared = (ComparedPair.of(PoolPair.from_json(pair)) for pair in self._pairs)
        write_signatures(public / SIGNATURES, self._plan.id, pairs=compared)
        self._write_questions(public / "hub")
        salt = secrets.token_hex(32)
        commitment = self._write_labels(private, labels, salt=salt)
        card = {
            "id": self._plan.id, "version": self._plan.version, "title": self._plan.title, "canary": self._canary,
            "retire": self._plan.retire, "seed": self._plan.seed,
            **describe(self._pairs, self._parts, balance=self._balance),
            "agreement": public_agreement(self._given.agreement), "filter": self._given.filter,
            "label_commitment": commitment, "sha256": _digests(public),
        }  # fmt: skip
        write_json(public / "card.json", card)
        text = card_text(card)
        write_card(public / "hub", (PUBLIC, HIDDEN), body=text, title=self._plan.title, licence=self._licences())
        atomic_files.write(public / "README.md", text.encode(), mode=atomic_files.PUBLIC)
        atomic_files.write(public / "card.html", card_page(card).encode(), mode=atomic_files.PUBLIC)
        return card

    def _licences(self) -> str:
        return "; ".join(sorted({pair["licence"] for pair in self._pairs}))

    def _sizes(self) -> dict[str, dict[str, int]]:
        keys = sorted({pair["category"] for pair in self._pairs})
        parts = {"": (PUBLIC, HIDDEN), f"-{PUBLIC}": (PUBLIC,), f"-{HIDDEN}": (HIDDEN,)}
        return {
            self._plan.version + suffix: {
                key: sum(pair["category"] == key and self._parts[pair["id"]] in held for pair in self._pairs)
                for key in keys
            }
            for suffix, held in parts.items()
        }

    def _write_definition(self, folder: Path) -> BenchmarkSpec:
        judges = [judge["judge"] for judge in self._given.filter["judges"]] if self._given.filter else []
        plan = self._plan
        # Those that annotators choose from, and those of the public part: of hidden pairs nothing is told.
        public = (pair for pair in self._pairs if self._parts[pair["id"]] == PUBLIC)
        tags = sorted({*self._given.agreement["tags"], *(tag for pair in public for tag in pair.get("tags", ()))})
        naming = EditionNaming(plan.id, plan.title, licence=self._licences(), citation=plan.citation)
        definition = EditionDefinition(naming, tags=tags, sizes=self._sizes(), filtered_by=judges)
        atomic_files.write(folder / "spec.toml", definition.toml().encode(), mode=atomic_files.PUBLIC)
        return load_spec(plan.id, definitions=folder.parent)

    def _write_manifest(self, folder: Path, spec: BenchmarkSpec, *, labels: Sequence[Mapping[str, Any]]) -> None:
        version = self._plan.version
        parts = {version: labels} | {
            f"{version}-{part}": [line for line in labels if line["split"] == part] for part in (PUBLIC, HIDDEN)
        }
        editions = [read_pairs(rows, spec, edition=key) for key, rows in parts.items() if rows]
        write_json(folder / "manifest.json", pair_manifest(editions))

    def _write_table(self, folder: Path, spec: BenchmarkSpec) -> None:
        """Write the items as a service reads them, responses in the order of their fingerprints."""
        version = self._plan.version
        rows = [{name: pair[name] for name in ("id", "query", "response", "category")} for pair in self._pairs]
        parts = {part: [row for row in rows if self._parts[row["id"]] == part] for part in (PUBLIC, HIDDEN)}
        revisions = {version: rows} | {f"{version}-{part}": held for part, held in parts.items() if held}
        write_json(folder / ITEMS, build_table(spec, revisions).to_json())

    def _write_questions(self, folder: Path) -> None:
        for part in (PUBLIC, HIDDEN):
            held = [pair for pair in self._pairs if self._parts[pair["id"]] == part]
            write_split(folder, part, rows=map(self._question, held), features=QUESTION_FEATURES, total=len(held))

    def _question(self, pair: Mapping[str, Any]) -> dict[str, Any]:
        path = self._given.images / pair["image"]
        try:
            data = path.read_bytes()
        except OSError:
            raise CurateError(_("There is no image {path}. Name the pool with --pool.", path=path)) from None
        if hashlib.sha256(data).hexdigest() != pair["image_sha256"]:
            raise CurateError(_("The image {path} is not the one that was imported. Import its file again.", path=path))
        image = {"bytes": data, "path": path.name}
        kept = {name: pair[name] for name in ("id", "query", "response", "category", "source", "licence")}
        return {**kept, "image": image, "canary": self._canary}

    def _label(self, pair: Mapping[str, Any]) -> dict[str, Any]:
        first, second = pair["response"]
        return {
            "id": pair["id"], "query": pair["query"], "response_a": first, "response_b": second,
            "category": pair["category"], "preferred": PREFERENCES[pair["preferred"]],
            "tags": list(pair.get("tags", ())), "split": self._parts[pair["id"]],
            "human_ranking": [pair["preferred"], 1 - pair["preferred"]],
            "human_error_analysis": list(pair.get("tags", ())),
        }  # fmt: skip

    def _write_labels(self, folder: Path, labels: Sequence[Mapping[str, Any]], *, salt: str) -> str:
        """Write the label revision; returns the commitment to it."""
        write_lines(folder / "labels.jsonl", labels)
        for part in (PUBLIC, HIDDEN):
            held = [line for line in labels if line["split"] == part]
            write_lines(folder / f"labels-{part}.jsonl", held)
            write_split(folder / "hub", part, rows=held, features=LABEL_FEATURES, total=len(held))
        title = f"{self._plan.title}: labels"
        text = f"# {title}\n\n{self._canary}\n\nPrivate: keep this data set closed until the edition retires.\n"
        write_card(folder / "hub", (PUBLIC, HIDDEN), body=text, title=title, licence=self._licences())
        if self._given.individual.is_file():
            atomic_files.write(folder / "individual.jsonl", self._given.individual.read_bytes())
        atomic_files.write(folder / "salt", salt.encode())
        digest = hashlib.sha256((folder / "labels.jsonl").read_bytes()).hexdigest()
        return commit(digest, bytes.fromhex(salt))


def _traits(pair: Mapping[str, Any]) -> SplitTraits:
    votes = pair.get("votes") or {}
    difficulty = votes["wrong"] / votes["runs"] if votes.get("runs") else 0.0
    words = sum(len(text.split()) for text in pair["response"])
    return SplitTraits(pair["id"], pair["category"], source=pair["source"], difficulty=difficulty, words=words)


def _check_apart(public: Path, private: Path) -> None:
    first, second = public.resolve(), private.resolve()
    if first == second or first.is_relative_to(second) or second.is_relative_to(first.parent):
        raise CurateError(
            _("Labels may not lie in {parent}, which is for the public. Name another --private.", parent=public.parent)
        )


def _unfinished(folder: Path) -> Path:
    """Return an empty folder of the same name beside it; what an earlier attempt left is removed."""
    holder = folder.parent / f".{folder.name}.part"
    shutil.rmtree(holder, ignore_errors=True)
    (holder / folder.name).mkdir(parents=True)
    return holder / folder.name


def _digests(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in _files(folder)}


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
