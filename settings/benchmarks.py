"""Settings of the benchmarks that a process serves: their labels, revisions and files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import SecretStr, field_validator

from settings.declared import DeclaredSettings, Names, SettingsError, setting, split_names
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, DEFINITIONS, DEMO, BenchmarkSpec, SpecError
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.hub_sources import parse_hub_source
from vlrb.disclosure import HIDDEN, LEVELS, PUBLIC

_REVISION = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
_LEVELS = {"": HIDDEN} | {level.removeprefix(f"{HIDDEN}:"): level for level in LEVELS}
"""As they are written behind the colon, and without one."""


class LabelSpec(NamedTuple):
    """Where one revision of the labels is found."""

    revision: str
    source: (
        str  # path of a JSONL, JSON or parquet file, or `owner/name@commit` of a Hub dataset; "" only where ROLE=web
    )
    benchmark: str = DEFAULT_BENCHMARK


@dataclass(frozen=True, slots=True)
class ServedSettings:
    """What the settings say of one benchmark that is served."""

    spec: BenchmarkSpec
    label_specs: tuple[LabelSpec, ...]  # none of the demo
    label_revision: str  # that a new board shows
    hidden_labels: Mapping[str, str]
    manifest_path: Path | None  # of the demo, or of labelled pairs; None: that of the definition
    item_texts_path: Path | None
    item_texts_source: str = ""  # the Hub dataset that these texts are made of

    @property
    def id(self) -> str:
        """The id of the benchmark."""
        return self.spec.id


class BenchmarkSettings(DeclaredSettings):
    """The settings of benchmarks, labels and texts."""

    role: Literal["all", "web", "worker"] = setting(
        "all",
        "what `app.py` runs: `all`; `web`, which starts no worker; `worker`, which answers nobody",
        shown="`all`",
    )
    data_dir: Path = setting(
        Path("data"),
        "database, uploads and demo, on a local disk. The demo keeps to `DATA_DIR/demo`",
        shown="`./data`",
        validate_default=True,
    )
    labels: str = setting(
        "",
        "label sets, `revision=source` or `benchmark/revision=source` separated by commas. A source is a JSONL, JSON "
        "or parquet file with the dataset's columns (texts may be absent), or a Hub dataset at a commit: "
        "`v2=owner/name@commit`, perhaps with a path behind it. With `ROLE=web` the revisions alone: `v2`",
        shown="empty: demo",
    )
    labels_token: SecretStr = setting(
        SecretStr(""),
        "Hub token that may read the private datasets in `LABELS` and `ITEMS_FILE`, and write to `AUDIT_DATASET`",
        shown="none: `HF_TOKEN`",
        workers_only=True,
    )
    served_ids: Names = setting(
        (),
        "ids of the benchmarks to serve, separated by commas. Each needs labels in `LABELS`. VL-RewardBench has the "
        "addresses without a prefix where it is served, else the first one; others are found below `/b/<id>/`",
        shown="all that `LABELS` names",
        alias="benchmarks",
    )
    definitions: Path = setting(
        DEFINITIONS,
        "directory with a folder for each benchmark of your own, beside those of the project "
        "([benchmarks](benchmarks.md))",
        shown="`vlrb/benchmarks`",
        alias="benchmark_definitions",
    )
    hidden_labels: str = setting(
        "",
        "what is shown of scores under revisions of `LABELS`; needed for all that the project does not list as public. "
        "`v3` shows the overall to half a point, `v3:categories` the categories too, rounded, `v3:public` everything; "
        "`other-benchmark/v1` is one of another benchmark ([levels](maintaining.md#disclosure-levels))",
        shown="none",
        workers_only=True,
    )
    item_texts: str = setting(
        "",
        "JSONL with the pairs' texts but no labels, made by `python -m maintenance items`, or a Hub dataset at a "
        "commit, `owner/name@commit`, of which texts alone are kept; of other benchmarks `weather=weather.jsonl`, all "
        "separated by commas. Without it the explore page shows facts only. The demo shows its own texts",
        shown="empty",
        alias="items_file",
    )

    @field_validator("data_dir", "definitions")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        return path.absolute()

    @cached_property
    def label_specs(self) -> tuple[LabelSpec, ...]:
        """The label sets of `LABELS`, of all benchmarks."""
        specs: dict[tuple[str, str], LabelSpec] = {}
        for part in split_names(self.labels):
            name, sign, source = (piece.strip() for piece in part.partition("="))
            benchmark, revision = self._label_name(name)
            names_source = bool(source) or (self.role == "web" and not sign)  # whose workers alone read labels
            if not names_source or not _REVISION.fullmatch(revision):
                raise ValueError(
                    f"LABELS holds {part!r}, which is not revision=file or revision=owner/name@commit. For "
                    "instance LABELS=v2=/srv/labels_v2.jsonl,v0=/srv/labels_v0.jsonl."
                )
            if DEMO in (benchmark, revision):
                raise ValueError(f"LABELS holds {part!r}: the name demo is kept for the demo. Choose another name.")
            if (benchmark, revision) in specs:
                raise ValueError(f"LABELS names the revision {name} twice. Keep one of them.")
            specs[benchmark, revision] = LabelSpec(revision, source, benchmark=benchmark)
        return tuple(specs.values())

    def _label_name(self, name: str) -> tuple[str, str]:
        """Return benchmark and revision of `revision` or `benchmark/revision`."""
        benchmark, sign, revision = name.rpartition("/")
        return (benchmark, revision) if sign else (DEFAULT_BENCHMARK, name)

    @cached_property
    def served(self) -> tuple[ServedSettings, ...]:
        """The benchmarks that are served; the first has the addresses without a prefix."""
        ids, hidden = self._ids(), self._hidden()
        if self.is_demo:
            return (self._demo(),)
        if unknown := sorted(set(self._texts) - set(ids)):
            raise ValueError(
                f"ITEMS_FILE names {', '.join(unknown)}, not served here. The service serves {', '.join(ids)}."
            )
        return tuple(self._served(name, hidden=hidden.get(name, {})) for name in ids)

    @cached_property
    def _texts(self) -> dict[str, tuple[Path, str]]:
        """Return benchmark -> where its texts are, and the dataset that they are made of, "" for a file.

        Raises ValueError.
        """
        texts: dict[str, tuple[Path, str]] = {}
        for part in split_names(self.item_texts):
            name, sign, place = (piece.strip() for piece in part.partition("="))
            name, place = (name, place) if sign else (DEFAULT_BENCHMARK, part)
            is_file, source = Path(place).is_file(), parse_hub_source(place)
            if name in texts or not (is_file or source):
                raise ValueError(
                    f"ITEMS_FILE has {part}, which is not a file, owner/name@commit or benchmark=file, once each. Make "
                    "a file with python -m maintenance items, or leave it out."
                )
            digest = hashlib.sha256(str(source).encode()).hexdigest()[:12]
            made = self.data_dir / "items" / f"{name}-texts-{digest}.jsonl"
            texts[name] = (Path(place).absolute(), "") if is_file else (made, str(source))
        return texts

    def served_as(self, benchmark: str) -> ServedSettings:
        """Return what is served under an id; "" is the first benchmark.

        Raises:
            SettingsError: the service does not serve it.
        """
        for served in self.served:
            if benchmark in ("", served.id):
                return served
        known = ", ".join(benchmark.id for benchmark in self.served)
        raise SettingsError(f"The service does not serve the benchmark {benchmark!r}. It serves {known} (BENCHMARKS).")

    def _ids(self) -> tuple[str, ...]:
        """Return the ids of the benchmarks that are served. Raises ValueError where one has no labels."""
        labelled = tuple(dict.fromkeys(spec.benchmark for spec in self.label_specs)) or (DEMO,)
        wanted = tuple(dict.fromkeys(self.served_ids)) or labelled
        for name in wanted:
            if name not in labelled:
                remedy = "leave LABELS out" if name == DEMO else f"add LABELS={name}/v1=/srv/labels.jsonl"
                raise ValueError(
                    f"BENCHMARKS names {name}, but LABELS has no labels of it. Take {name} out of BENCHMARKS, or "
                    f"{remedy}."
                )
        return tuple(sorted(wanted, key=lambda name: name != DEFAULT_BENCHMARK))

    def _demo(self) -> ServedSettings:
        texts = self.demo_dir / "pairs.jsonl"
        spec = load_spec(DEMO, DEFINITIONS)
        return ServedSettings(
            spec,
            (),
            label_revision=DEMO,
            hidden_labels={},  # its labels are synthetic
            manifest_path=self.demo_dir / "items.json",
            item_texts_path=texts,
        )

    def _hidden(self) -> dict[str, dict[str, str]]:
        """Return benchmark -> label revision -> disclosure level."""
        known = {(spec.benchmark, spec.revision) for spec in self.label_specs}
        hidden: dict[str, dict[str, str]] = {}
        for part in split_names(self.hidden_labels):  # a slip here would disclose the labels it is meant for
            name, sign, word = part.partition(":")
            benchmark, revision = self._label_name(name)
            if word not in _LEVELS or bool(sign) != bool(word):
                words = ", ".join(filter(None, _LEVELS))
                raise ValueError(
                    f"HIDDEN_LABELS has {part}. After the colon, write one of {words}; a name alone means {HIDDEN}."
                )
            if (benchmark, revision) not in known:
                raise ValueError(
                    f"HIDDEN_LABELS names {name}, which is not among the revisions in LABELS. Name one of those, or "
                    "leave it out."
                )
            if revision in hidden.setdefault(benchmark, {}):
                raise ValueError(f"HIDDEN_LABELS names {name} twice. Keep one of them.")
            hidden[benchmark][revision] = _LEVELS[word]
        return hidden

    def _served(self, name: str, *, hidden: Mapping[str, str]) -> ServedSettings:
        specs = tuple(spec for spec in self.label_specs if spec.benchmark == name)
        texts, source = self._texts.get(name, (None, ""))
        try:
            spec = load_spec(name, self.definitions)
        except SpecError as error:
            raise ValueError(
                f"LABELS names the benchmark {name}: {error!s}. Name one that BENCHMARK_DEFINITIONS has."
            ) from None
        if spec.public_labels and set(hidden.values()) - {PUBLIC}:
            raise ValueError(
                f"HIDDEN_LABELS names {', '.join(sorted(hidden))} of {name}, whose definition says that its "
                "labels are public. Take it out of HIDDEN_LABELS."
            )
        manifest = None if spec.has_items else self.data_dir / "items" / f"{name}.json"
        return ServedSettings(
            spec,
            specs,
            label_revision=specs[0].revision,
            hidden_labels=hidden,
            manifest_path=manifest,
            item_texts_path=texts,
            item_texts_source=source,
        )

    @property
    def is_demo(self) -> bool:
        """True while no labels are configured: synthetic items, synthetic labels."""
        return not self.label_specs

    @property
    def spec(self) -> BenchmarkSpec:
        """The definition of the first benchmark."""
        return self.served[0].spec

    @property
    def demo_dir(self) -> Path:
        """Where the synthetic benchmark lives."""
        return self.data_dir / "demo"

    @property
    def state_dir(self) -> Path:
        """Database and uploads. The demo has its own, so that its judges never meet real labels."""
        return self.demo_dir if self.is_demo else self.data_dir
