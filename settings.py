"""The settings of a process, each declared once. `from_env` is the only reader of environment variables.

`WorkerSettings` is what the worker and the commands on the machine need; `Settings` adds what the web process needs.
`docs/settings.md` is generated from the declarations: `python -m settings > docs/settings.md`.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import BeforeValidator, Field, PrivateAttr, SecretStr, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from auth.settings import HUGGING_FACE, IdentitySettings, Mode
from benchmark.disclosure import BY_CATEGORY, LEVELS, PUBLIC
from benchmark.spec import DEFAULT_BENCHMARK, DEFINITIONS, DEMO, BenchmarkSpec, SpecError, load_spec
from common.hub_sources import parse_hub_source
from common.messages import Message, _, joined
from operation.mail_server import MailServer
from operation.real_board import RealBoardPlaces
from operation.replication.replica import UPLOADS, Replica
from storage.files.durability import LOCAL, REPLICATED
from storage.files.object_store import address_below
from storage.integrity.key_place import KeyPlace

DEMO_REVISION = DEMO
SPACE_NAMES = ("SPACE_ID", "SPACE_HOST", "OPENID_PROVIDER_URL", "OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET")
"""What Hugging Face sets on a Space, the last three where its README says `hf_oauth: true`."""

_SHORTEST_PREFIX = {4: 8, 6: 16}  # of a network of proxies
_SPACE_DEFAULTS = {
    "host": "0.0.0.0",  # noqa: S104 (a Space cannot be reached otherwise; refused below unless it is meant)
    "trusted_proxies": "10.0.0.0/8",  # a Space is reached through Hugging Face's own network only
}
_HIDDEN_LEVELS = tuple(level for level in LEVELS if level != PUBLIC)
_DATABASE = "leaderboard.db"
_FOLDERS = ("uploads", "spool", "labels", "audit", "keys", "backups", "editions")
_STATE_NAMES = (_DATABASE, f"{_DATABASE}-wal", f"{_DATABASE}-shm", *_FOLDERS)
_REVISION = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
_HOST = re.compile(r"[a-z0-9.-]+")
_DATASET = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_UNDECIDED = _(
    "Set IDENTITY=local (no sign-in, this machine only; make serve does this), OIDC_CLIENT_ID (sign-in), or "
    "INSECURE_ALLOW_PUBLIC=1 (everybody may submit, nobody may maintain)."
)
_YES, _NO = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


class SettingsError(ValueError):
    """A setting is wrong; the message names it and says what to write instead."""


class LabelSpec(NamedTuple):
    """Where one revision of the labels is found."""

    revision: str
    source: str  # path of a JSONL, JSON or parquet file, or `owner/name@commit` of a Hub dataset
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


def _split(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return tuple(filter(None, (part.strip() for part in value.split(","))))


def _levels(value: Any) -> Any:
    """Label revision -> disclosure level, from `v3,v4:overall`."""
    if not isinstance(value, str):
        return value
    levels: dict[str, str] = {}
    for part in _split(value):
        name, sign, level = part.partition(":")
        if sign and level not in _HIDDEN_LEVELS:
            raise ValueError(
                _(
                    "HIDDEN_LABELS has {part}. After the colon, write one of {levels}; a name alone means {usual}.",
                    part=part,
                    levels=", ".join(_HIDDEN_LEVELS),
                    usual=BY_CATEGORY,
                )
            )
        if name in levels:
            raise ValueError(_("HIDDEN_LABELS names {name} twice. Keep one of them.", name=name))
        levels[name] = level or BY_CATEGORY
    return levels


def _files_by_name(value: Any) -> Any:
    """Benchmark -> file, from `traffic=/srv/traffic.jsonl,weather=/srv/weather.jsonl`."""
    if not isinstance(value, str):
        return value
    files: dict[str, Path] = {}
    for part in _split(value):
        name, sign, path = (piece.strip() for piece in part.partition("="))
        if not sign or not name or name in files or not Path(path).is_file():
            raise ValueError(
                _(
                    "ITEMS_FILES has {part!r}, which is not benchmark=file, each once. Make a file with "
                    "python -m maintenance items, or leave it out.",
                    part=part,
                )
            )
        files[name] = Path(path).absolute()
    return files


def _yes_or_no(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value.lower() not in _YES | _NO:
        raise ValueError(_("{name}={value} is neither yes nor no. Write {name}=1 or leave it out."))
    return value.lower() in _YES


Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
Levels = Annotated[Mapping[str, str], BeforeValidator(_levels)]
Paths = Annotated[tuple[Path, ...], BeforeValidator(_split)]
Files = Annotated[Mapping[str, Path], BeforeValidator(_files_by_name)]
Flag = Annotated[bool, BeforeValidator(_yes_or_no)]


def setting(default: Any, description: str, *, shown: str = "", **limits: Any) -> Any:
    """Declare a setting. `shown` is how the documentation names the default; `limits` are those of `pydantic.Field`."""
    return Field(default, description=description, json_schema_extra={"shown": shown}, **limits)


class _FromMapping(BaseSettings):
    """Settings whose only source is the mapping that `from_env` gets: no process environment, no .env file."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", enable_decoding=False, validate_default=False)

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """Read every setting of this class; an empty value means unset.

        Raises:
            SettingsError: the first setting that cannot be used, with the remedy.
        """
        texts = {key: environ.get(key.upper(), "").strip() for key, _ in _keys(cls)}
        try:
            return cls(**{key: text for key, text in texts.items() if text})
        except ValidationError as error:
            raise SettingsError(_sentence(cls, error)) from None


class WorkerSettings(_FromMapping):
    """What the worker and the commands on the machine need."""

    _given_backup_url: str = PrivateAttr("")  # as it is set; `backup_url` is the part of it that is used

    data_dir: Path = setting(
        Path("data"),
        "database, uploads and demo, on a local disk. The demo keeps to `DATA_DIR/demo`",
        shown="`./data`",
        validate_default=True,
    )
    database_url: str = setting(
        "",
        "`sqlite:////path/file.db` or `postgresql://user:password@host/name`",
        shown="SQLite in `DATA_DIR`",
        repr=False,
    )
    labels: str = setting(
        "",
        "label sets, `revision=source` or `benchmark/revision=source` separated by commas. A source is a JSONL, JSON "
        "or parquet file with the dataset's columns (texts may be absent), or a Hub dataset at a commit: "
        "`v2=owner/name@commit`, perhaps with a path behind it",
        shown="empty: demo",
    )
    labels_token: SecretStr = setting(
        SecretStr(""),
        "Hub token that may read the private datasets in `LABELS` and `ITEMS_FILE`, and needs nothing else",
        shown="none: `HF_TOKEN`",
    )
    served_ids: Names = setting(
        (),
        "ids of the benchmarks to serve, separated by commas. Each needs labels in `LABELS`. VL-RewardBench has the "
        "addresses without a prefix where it is served, else the first one; others are found below `/b/<id>/`",
        shown="all that `LABELS` names",
        alias="benchmarks",
    )
    served_benchmark: str = setting(
        DEFAULT_BENCHMARK,
        "id of the benchmark that names without one are of, in `LABELS`, `LABEL_REVISION` and `HIDDEN_LABELS`; the "
        "demo is served without labels",
        shown=f"`{DEFAULT_BENCHMARK}`",
        alias="benchmark",
    )
    definitions: Path = setting(
        DEFINITIONS,
        "directory with a folder for each benchmark of your own, beside those of the project "
        "([benchmarks](benchmarks.md))",
        shown="`benchmark/definitions`",
        alias="benchmark_definitions",
    )
    label_revision: str = setting(
        "",
        "the revision that a new board shows; for several benchmarks `v2,other-benchmark/v1`",
        shown="first of `LABELS`",
    )
    hidden_labels: Levels = setting(
        {},
        "revisions of `LABELS` that are not public: `v3` or `v3:categories` shows overall, macro and the three "
        "categories, `v3:overall` the overall alone to half a point, anywhere; `other-benchmark/v1` is one of another "
        "benchmark "
        "([levels](maintaining.md#disclosure-levels))",
        shown="none",
    )
    accept_weak_hiding: Flag = setting(
        False,
        "`1`: revisions in `HIDDEN_LABELS` may nearly repeat a public one; otherwise `health` raises an alarm",
        shown="`0`",
    )
    label_import_dirs: Paths = setting(
        (),
        "directories, separated by commas: maintainers import label files and pools from below these alone",
        shown="`DATA_DIR/imports`",
    )
    item_texts: str = setting(
        "",
        "JSONL with the pairs' texts but no labels, made by `python -m maintenance items`, or a Hub dataset at a "
        "commit, `owner/name@commit`, of which texts alone are kept; without it the explore page shows facts only. "
        "The demo shows its own texts",
        shown="empty",
        alias="items_file",
    )
    items_files: Files = setting(
        {},
        "the same for other benchmarks: `traffic=traffic.jsonl,weather=weather.jsonl`",
        shown="none",
    )
    lease_seconds: float = setting(
        60.0, "a worker that is silent for so long loses its job to another", ge=0.1, le=86_400
    )
    audit_dataset: str = setting(
        "",
        "Hub dataset `owner/name` to which the worker commits the head of the audit chain once a day",
        shown="none",
    )
    audit_token: SecretStr = setting(
        SecretStr(""), "Hub token that may write to it, and needs nothing else", shown="none: `HF_TOKEN`"
    )
    backup_url: str = setting(
        "",
        "where the daily copy of the database goes: a directory, or an fsspec URL such as `s3://bucket/backups`",
        shown="`DATA_DIR/backups`",
        repr=False,
    )
    replica_url: str = setting(
        "",
        "where the database is copied to within a second, with uploads, imported labels and audit heads: a directory "
        "on another disk or a mounted bucket, or `s3://bucket/path?endpoint=...&region=...`; an empty disk is restored "
        "from it at the start ([replica](operation.md#replica))",
        shown="none",
        repr=False,
    )
    backup_keep: int = setting(14, "how many copies stay; `0` makes none", ge=0, le=10_000)
    otel_endpoint: str = setting(
        "",
        "address of an OpenTelemetry collector that takes OTLP over HTTP, such as `http://collector:4318`: web process "
        "and workers send it traces ([traces](deployment.md#traces)). The SDK reads the other `OTEL_` variables itself",
        shown="none",
        alias="otel_exporter_otlp_endpoint",
        repr=False,
    )
    keep_snapshots_days: int = setting(
        31, "after how many days one snapshot of the board a day stays; `0` keeps all", ge=0, le=100_000
    )

    @field_validator("data_dir", "definitions")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        return path.absolute()

    @field_validator("label_import_dirs")
    @classmethod
    def _all_absolute(cls, paths: tuple[Path, ...]) -> tuple[Path, ...]:
        return tuple(path.absolute() for path in paths)

    @field_validator("item_texts")
    @classmethod
    def _existing(cls, text: str) -> str:
        if not Path(text).is_file() and parse_hub_source(text) is None:
            raise ValueError(
                _("{name}={value} is not a file. Make it with python -m maintenance items, or leave {name} out.")
            )
        return text

    @field_validator("database_url")
    @classmethod
    def _with_driver(cls, text: str) -> str:
        scheme, _sign, rest = text.partition("://")
        if scheme in ("postgres", "postgresql", "postgresql+psycopg"):  # the first is what many hosts hand out
            return f"postgresql+psycopg://{rest}"
        if scheme == "sqlite":
            return text
        # The URL itself is not repeated: it may hold a password.
        raise ValueError(
            _(
                "DATABASE_URL starts with neither sqlite:/// nor postgresql://. "
                "For instance DATABASE_URL=postgresql://user:password@host/leaderboard."
            )
        )

    @field_validator("otel_endpoint")
    @classmethod
    def _over_http(cls, text: str) -> str:
        if not text.startswith(("http://", "https://")):
            raise ValueError(_("{name} is not an address of HTTP. For instance {name}=http://127.0.0.1:4318."))
        return text

    @field_validator("audit_dataset")
    @classmethod
    def _on_the_hub(cls, text: str) -> str:
        if not _DATASET.fullmatch(text):
            raise ValueError(_("{name}={value} is not a dataset on the Hub. For instance {name}=owner/name."))
        return text

    @model_validator(mode="after")
    def _revisions_fit(self) -> Self:
        first = self.served[0]  # raises where the settings of benchmarks do not fit each other
        derived: dict[str, Any] = {
            "label_revision": first.label_revision,
            "hidden_labels": first.hidden_labels,
            "database_url": self.database_url or f"sqlite:///{self.state_dir / _DATABASE}",
            "label_import_dirs": self.label_import_dirs or (self.data_dir / "imports",),
            "backup_url": self._own_backup_url or str(self.state_dir / "backups"),
        }
        self._given_backup_url = self.backup_url
        for name, value in derived.items():
            object.__setattr__(self, name, value)
        return self

    @cached_property
    def label_specs(self) -> tuple[LabelSpec, ...]:
        """The label sets of `LABELS`, of all benchmarks."""
        specs: dict[tuple[str, str], LabelSpec] = {}
        for part in _split(self.labels):
            name, sign, source = (piece.strip() for piece in part.partition("="))
            benchmark, revision = self._label_name(name)
            if not sign or not source or not _REVISION.fullmatch(revision):
                raise ValueError(
                    _(
                        "LABELS holds {part!r}, which is not revision=file or revision=owner/name@commit. "
                        "For instance LABELS=v2=/srv/labels_v2.jsonl,v0=/srv/labels_v0.jsonl.",
                        part=part,
                    )
                )
            if DEMO_REVISION in (benchmark, revision):
                raise ValueError(
                    _("LABELS names the revision 'demo', which is kept for the demo. Choose another name.")
                )
            if (benchmark, revision) in specs:
                raise ValueError(_("LABELS names the revision {name} twice. Keep one of them.", name=name))
            specs[benchmark, revision] = LabelSpec(revision, source, benchmark=benchmark)
        return tuple(specs.values())

    def _label_name(self, name: str) -> tuple[str, str]:
        """Return benchmark and revision of `revision` or `benchmark/revision`."""
        benchmark, sign, revision = name.rpartition("/")
        return (benchmark, revision) if sign else (self.served_benchmark, name)

    @cached_property
    def served(self) -> tuple[ServedSettings, ...]:
        """The benchmarks that are served; the first has the addresses without a prefix."""
        if self.is_demo:
            return (self._demo(),)
        ids = self._ids()
        if unknown := sorted(set(self.items_files) - set(ids)):
            raise ValueError(
                _(
                    "ITEMS_FILES names {unknown}, not served here. The service serves {ids}.",
                    unknown=joined(unknown),
                    ids=joined(ids),
                )
            )
        shown, hidden = self._revisions_shown(), self._hidden()
        return tuple(self._served(name, shown.get(name, ""), hidden=hidden.get(name, {})) for name in ids)

    def served_as(self, benchmark: str) -> ServedSettings:
        """Return what is served under an id; "" is the first benchmark.

        Raises:
            SettingsError: the service does not serve it.
        """
        for served in self.served:
            if benchmark in ("", served.id):
                return served
        known = ", ".join(benchmark.id for benchmark in self.served)
        raise SettingsError(
            _(
                "The service does not serve the benchmark {benchmark!r}. It serves {known} (BENCHMARKS).",
                benchmark=benchmark,
                known=known,
            )
        )

    def _ids(self) -> tuple[str, ...]:
        """Return the ids of the benchmarks that are served. Raises ValueError where one has no labels."""
        labelled = tuple(dict.fromkeys(spec.benchmark for spec in self.label_specs))
        wanted = tuple(dict.fromkeys(self.served_ids)) or labelled
        for name in wanted:
            if name == DEMO_REVISION:
                raise ValueError(
                    _(
                        "BENCHMARKS names the demo beside labels, but the demo is never served beside real benchmarks. "
                        "Take demo out of BENCHMARKS, or leave LABELS out."
                    )
                )
            if name not in labelled:
                raise ValueError(
                    _(
                        "BENCHMARKS names {name}, but LABELS has no labels of it. Add "
                        "LABELS={name}/v1=/srv/labels.jsonl, or take {name} out of BENCHMARKS.",
                        name=name,
                    )
                )
        return tuple(sorted(wanted, key=lambda name: name != DEFAULT_BENCHMARK))

    def _demo(self) -> ServedSettings:
        for name in self.served_ids:
            if name != DEMO_REVISION:
                raise ValueError(
                    _(
                        "BENCHMARKS names {name}, but LABELS is not set. Set LABELS={name}/v1=/srv/labels.jsonl, or "
                        "leave BENCHMARKS out for the demo.",
                        name=name,
                    )
                )
        _check_revision("LABEL_REVISION", self.label_revision, known=[DEMO_REVISION])
        for name in self.hidden_labels:
            _check_revision("HIDDEN_LABELS", name, known=[DEMO_REVISION])
        texts = self.demo_dir / "pairs.jsonl"
        spec = load_spec(DEMO_REVISION, DEFINITIONS)
        return ServedSettings(
            spec,
            (),
            label_revision=DEMO_REVISION,
            hidden_labels=self.hidden_labels,
            manifest_path=self.demo_dir / "items.json",
            item_texts_path=texts,
        )

    def _revisions_shown(self) -> dict[str, str]:
        """Return benchmark -> the revision that its new board shows, where the setting names one."""
        known = [self._full_name(spec) for spec in self.label_specs]
        revisions: dict[str, str] = {}
        for name in _split(self.label_revision):
            benchmark, revision = self._label_name(name)
            _check_revision("LABEL_REVISION", name, known=known, full_name=f"{benchmark}/{revision}")
            if benchmark in revisions:
                raise ValueError(
                    _("LABEL_REVISION names two revisions of {benchmark}. Keep one of them.", benchmark=benchmark)
                )
            revisions[benchmark] = revision
        return revisions

    def _hidden(self) -> dict[str, dict[str, str]]:
        """Return benchmark -> label revision -> disclosure level."""
        known = [self._full_name(spec) for spec in self.label_specs]
        hidden: dict[str, dict[str, str]] = {}
        for name, level in sorted(self.hidden_labels.items()):  # a slip here would disclose the labels it is meant for
            benchmark, revision = self._label_name(name)
            _check_revision("HIDDEN_LABELS", name, known=known, full_name=f"{benchmark}/{revision}")
            hidden.setdefault(benchmark, {})[revision] = level
        return hidden

    def _full_name(self, spec: LabelSpec) -> str:
        return f"{spec.benchmark}/{spec.revision}"

    def _served(self, name: str, revision: str, *, hidden: Mapping[str, str]) -> ServedSettings:
        specs = tuple(spec for spec in self.label_specs if spec.benchmark == name)
        texts, source = self._texts_of(name)
        try:
            spec = load_spec(name, self.definitions)
        except SpecError as error:
            raise ValueError(
                _(
                    "LABELS names the benchmark {name}: {error}. Name one that BENCHMARK_DEFINITIONS has.",
                    name=name,
                    error=str(error),
                )
            ) from None
        if hidden and spec.public_labels:
            raise ValueError(
                _(
                    "HIDDEN_LABELS names {hidden} of {name}, whose definition says that its labels are public. "
                    "Take it out of HIDDEN_LABELS.",
                    hidden=joined(sorted(hidden)),
                    name=name,
                )
            )
        manifest = self.data_dir / "items" / f"{name}.json" if spec.scores_pairs else None
        return ServedSettings(
            spec,
            specs,
            label_revision=revision or specs[0].revision,
            hidden_labels=hidden,
            manifest_path=manifest,
            item_texts_path=texts,
            item_texts_source=source,
        )

    def _texts_of(self, name: str) -> tuple[Path | None, str]:
        """Return where the texts of a benchmark's pairs are, and the dataset that they are from, if from one."""
        if name in self.items_files:
            return self.items_files[name], ""
        if name != self.served_benchmark or not self.item_texts:
            return None, ""
        source = parse_hub_source(self.item_texts)
        if source is None or Path(self.item_texts).is_file():
            return Path(self.item_texts).absolute(), ""
        digest = hashlib.sha256(str(source).encode()).hexdigest()[:12]
        return self.data_dir / "items" / f"{name}-texts-{digest}.jsonl", str(source)

    @property
    def is_demo(self) -> bool:
        """True while no labels are configured: synthetic items, synthetic labels."""
        return not self.label_specs

    @property
    def benchmark(self) -> str:
        """Name of the first benchmark, as it is in reports and scorecards."""
        return self.spec.id

    @property
    def spec(self) -> BenchmarkSpec:
        """The definition of the first benchmark."""
        return self.served[0].spec

    @property
    def demo_dir(self) -> Path:
        """Where the synthetic benchmark lives."""
        return self.data_dir / "demo"

    @property
    def replica(self) -> Replica | None:
        """Where everything is copied to that must outlive the disk. The demo has a part of its own there."""
        if not self.replica_url:
            return None
        whole = Replica(self.replica_url)
        return whole.part(DEMO_REVISION) if self.is_demo else whole

    @property
    def real_board(self) -> RealBoardPlaces | None:
        """Where a board with labels would be, which a demo must not replace; None where labels are configured."""
        if not self.is_demo:
            return None
        replica = Replica(self.replica_url) if self.replica_url else None
        database = self.data_dir / _DATABASE if self._serves_others else None
        return RealBoardPlaces(replica, self._given_backup_url, database=database)

    @property
    def _serves_others(self) -> bool:
        """Whether this is more than a trial on a developer's machine, who may have a board in the same DATA_DIR."""
        return bool(self.replica_url or self._given_backup_url)

    @property
    def _own_backup_url(self) -> str:
        """Where daily copies go; those of the demo apart, since the newest is what an empty disk asks for."""
        return address_below(self.backup_url, DEMO_REVISION) if self.backup_url and self.is_demo else self.backup_url

    @property
    def state_dir(self) -> Path:
        """Database and uploads. The demo has its own, so that its judges never meet real labels."""
        return self.demo_dir if self.is_demo else self.data_dir


class Settings(WorkerSettings):
    """What the web process needs in addition."""

    host: str = setting(
        "127.0.0.1", "address to listen on. Anything but a loopback address needs `INSECURE_ALLOW_PUBLIC`"
    )
    port: int = setting(7860, "port to listen on", ge=0, le=65535)
    role: str = setting(
        "all",
        "what `app.py` runs: `all`; `web`, which starts no worker; `worker`, which answers nobody",
        shown="`all`",
    )
    upload_limit_mb: float = setting(64, "largest file taken", ge=0.001, le=4096)
    identity_mode: str = setting(
        "",
        "`openid`: people sign in. `local`: no sign-in; answers to this machine only, and anyone who reaches "
        "it, through "
        "a proxy on it too, has full access; a line on every page says so",
        shown="`openid` if there is a client id; else it must be set (`make serve` sets `local`)",
        alias="identity",
    )
    public_url: str = setting(
        "",
        "scheme and host under which browsers reach the service, for sign-in: `https://board.example.org`",
        shown="on a Space its own",
    )
    oidc_issuer: str = setting("", "OpenID provider", shown=f"`{HUGGING_FACE}`")
    oidc_client_id: str = setting(
        "",
        "client registered there; its redirect address is `PUBLIC_URL/auth/callback`",
        shown="on a Space its own",
    )
    oidc_client_secret: SecretStr = setting(
        SecretStr(""), "its secret; empty for a public client", shown="on a Space its own"
    )
    session_secret: SecretStr = setting(
        SecretStr(""),
        "at least 32 random bytes: `python -c 'import secrets; print(secrets.token_urlsafe(48))'`. Sign-in needs it. "
        "It also encrypts the receipt key in the replica (without `REPLICA_SECRET`) and the addresses and secrets of "
        "e-mail and webhooks. Processes that share it count rate limits together",
        shown="none",
    )
    session_secret_previous: SecretStr = setting(
        SecretStr(""), "the one before, accepted while you change it", shown="none"
    )
    owners: Names = setting(
        (),
        "names at the provider, or `sub:<subject>`, separated by commas; owners are maintainers too, and "
        "only owners ban "
        "maintainers",
        shown="none",
    )
    maintainers: Names = setting((), "as above", shown="none")
    maintainer_org: str = setting("", "name or id of an organisation whose admins are maintainers", shown="none")
    trusted_proxies: Names = setting(
        (),
        "addresses or networks (at most a /8, IPv6 a /16) of proxies whose `X-Forwarded-For` is believed, and without "
        "`PUBLIC_URL` the host and scheme that they name",
        shown="none; on a Space `10.0.0.0/8`",
    )
    mcp: Flag = setting(
        True,
        "`0`: no [MCP endpoint](rest-api.md#mcp) at `/mcp`. There is none either without the packages of "
        "`requirements-mcp.txt`",
        shown="`1`",
    )
    uploads_url: str = setting(
        "",
        "where submitted files stay: a directory, or an fsspec URL such as `s3://bucket/uploads` (install what fsspec "
        "asks for); the worker needs none of them",
        shown="`DATA_DIR/uploads`",
        repr=False,
    )
    quota_per_day: int = setting(
        1,
        "scored submissions in 24 hours for each account and each organisation; `0` is no limit. None of it "
        "without sign-in",
        ge=0,
        le=1000,
    )
    quota_per_year: int = setting(
        12, "the same in 365 days; every label revision scores all of them, so none gives more", ge=0, le=100_000
    )
    account_age_days: int = setting(
        0,
        "how old an account must be to submit: as the issuer says, else since its first sign-in here "
        "(Hugging Face does "
        "not say)",
        shown="`0`: any",
        ge=0,
        le=3650,
    )
    approve_first_upload: Flag = setting(
        False,
        "`1`: the first submission of every account waits for a maintainer; until then no label is touched",
        shown="`0`",
    )
    null_votes_approval: float = setting(
        15,
        "where a label set is not public, a file with more than so many percent of votes for neither "
        "response waits for a "
        "maintainer; `100`: none does. None of it without sign-in",
        ge=0,
        le=100,
    )
    null_votes_probe: float = setting(
        5,
        "where a label set is not public, a file with so many percent of votes for neither response counts "
        "as a probe in "
        "the maintainers' alarm. None of it without sign-in",
        ge=0,
        le=100,
    )
    ladder_margin: float = setting(
        0,
        "points by which a score under labels that are not public has to beat the account's best to be "
        "shown; `0`: every "
        "score is shown; `1.5` is recommended for hidden sets ([security](security.md)). None of it without sign-in",
        ge=0,
        le=100,
    )
    requests_per_minute: int = setting(
        120,
        "checks, uploads, calls of the pages' functions, sign-ins and other changes, of each kind, from one "
        "address, and of "
        "one account, in a minute; with it come 16 uploads of the largest size, or as many bytes, in an hour "
        "and four calls "
        "at a time from one address. `0` is no limit. None of it in local mode",
        ge=0,
        le=1_000_000,
    )
    quota_exempt_orgs: Names = setting(
        (), "names or ids of organisations that anybody may join, so that their members are not one team", shown="none"
    )
    durability: str = setting(
        "local",
        "`local`: a submission is acknowledged when it is on this disk; `replicated`: when `REPLICA_URL` has it too",
        shown="`local`",
    )
    replica_secret: SecretStr = setting(
        SecretStr(""),
        "secret under which the receipt key is encrypted in the replica; not needed with `RECEIPT_KEY`",
        shown="`SESSION_SECRET`",
    )
    receipt_key: SecretStr = setting(
        SecretStr(""),
        "Ed25519 key that receipts are signed with, as PEM or the base64 of 32 random bytes; otherwise in "
        "`DATA_DIR/keys/receipt.key`, which only the service may read",
        shown="made at the first start",
    )
    insecure_allow_public: Flag = setting(
        False,
        "`1` accepts that everybody who reaches a service without sign-in can submit; nobody can maintain it",
        shown="`0`",
    )
    smtp_url: SecretStr = setting(
        SecretStr(""),
        "mail server for news that submitters ask for: `smtps://user:password@host` (TLS) or `smtp://...` (STARTTLS); "
        "needs sign-in ([e-mail](maintaining.md#e-mail-to-submitters))",
        shown="none: no e-mail",
    )
    mail_from: str = setting("", "address that these e-mails are from", shown="none")
    webhooks: Flag = setting(
        False,
        "`1`: people with an account may have news of their entries sent to an https address of theirs; needs sign-in "
        "([webhooks](maintaining.md#webhooks-of-submitters))",
        shown="`0`",
    )
    metrics_token: SecretStr = setting(
        SecretStr(""),
        "who sends it as `Authorization: Bearer` may read `/metrics`",
        shown="none: requests from this machine alone",
    )
    access_log: Flag = setting(
        False, "`1`: a line in the log for each request: route, status, time; no address, no query", shown="`0`"
    )
    space_id: str = setting("", "set on a Space")
    space_host: str = setting("", "set on a Space")
    openid_provider_url: str = setting("", "set on a Space with sign-in")
    oauth_client_id: str = setting("", "set on a Space with sign-in")
    oauth_client_secret: SecretStr = setting(SecretStr(""), "set on a Space with sign-in")

    @model_validator(mode="before")
    @classmethod
    def _space_defaults(cls, values: dict[str, Any]) -> dict[str, Any]:
        return {**_SPACE_DEFAULTS, **values} if values.get("space_id") else values

    @field_validator("trusted_proxies")
    @classmethod
    def _few_proxies(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse names, `*` and networks of nearly everybody: then clients would state their own address."""
        for name in names:
            try:
                network = ipaddress.ip_network(name)
                too_many = network.prefixlen < _SHORTEST_PREFIX[network.version]
            except ValueError:
                too_many = True
            if too_many:
                raise ValueError(
                    _(
                        "TRUSTED_PROXIES holds {name!r}, which is not an address or a network of proxies (at most a "
                        "/8, IPv6 a /16). For instance TRUSTED_PROXIES=203.0.113.7,10.0.0.0/8.",
                        name=name,
                    )
                )
        return names

    @model_validator(mode="after")
    def _sign_in_is_decided(self) -> Self:
        object.__setattr__(self, "uploads_url", self.uploads_url or self._default_uploads)
        _ = self.identity  # raises for what would let the wrong people in
        return self

    @field_validator("role")
    @classmethod
    def _known_role(cls, role: str) -> str:
        if role not in ("all", "web", "worker"):
            raise ValueError(_("ROLE={role} is none of all, web and worker. Write one of them.", role=role))
        return role

    @model_validator(mode="after")
    def _durable(self) -> Self:
        if self.durability not in (LOCAL, REPLICATED):
            raise ValueError(
                _("DURABILITY={given} is neither local nor replicated. Write one of them.", given=self.durability)
            )
        if self.durability == REPLICATED and not (self.replica_url and self.database_url.startswith("sqlite")):
            raise ValueError(
                _(
                    "DURABILITY=replicated needs REPLICA_URL and SQLite. On PostgreSQL, leave it out and set "
                    "synchronous_standby_names there."
                )
            )
        return self

    @model_validator(mode="after")
    def _mail_is_complete(self) -> Self:
        if bool(self.smtp_url.get_secret_value()) != bool(self.mail_from):
            raise ValueError(_("SMTP_URL and MAIL_FROM belong together. Set both, or leave both out."))
        if self.mail_server is not None and self.identity.mode is not Mode.OPENID:
            raise ValueError(
                _("SMTP_URL needs sign-in, so that addresses have owners. Set OIDC_CLIENT_ID, or leave it out.")
            )
        return self

    @model_validator(mode="after")
    def _webhooks_have_owners(self) -> Self:
        if self.webhooks and self.identity.mode is not Mode.OPENID:
            raise ValueError(
                _("WEBHOOKS needs sign-in, so that webhooks have owners. Set OIDC_CLIENT_ID, or leave it out.")
            )
        return self

    @property
    def mail_server(self) -> MailServer | None:
        """The server that takes e-mails; None where there are none."""
        return MailServer(self.smtp_url.get_secret_value(), self.mail_from) if self.mail_from else None

    @property
    def key_secret(self) -> str:
        """The secret under which the receipt key is encrypted in the replica; "" where RECEIPT_KEY is given."""
        if self.receipt_key.get_secret_value():
            return ""
        return self.replica_secret.get_secret_value() or self.session_secret.get_secret_value()

    @property
    def key_secret_previous(self) -> str:
        """The secret before `key_secret`, where that is SESSION_SECRET and was changed; else ""."""
        followed = self.replica_secret.get_secret_value() or not self.key_secret
        return "" if followed else self.session_secret_previous.get_secret_value()

    @property
    def receipt_key_place(self) -> KeyPlace:
        """Where the receipt key is: in the settings, encrypted in the replica, or on this disk alone."""
        if self.receipt_key.get_secret_value():
            return KeyPlace.SETTINGS
        return KeyPlace.REPLICA if self.replica is not None and self.key_secret else KeyPlace.DISK

    @property
    def uploads_in_replica(self) -> bool:
        """Whether submitted files stay in the replica: where UPLOADS_URL names no other place."""
        return self.replica is not None and self.uploads_url == self._default_uploads

    @property
    def _default_uploads(self) -> str:
        return self.replica.below(UPLOADS) if self.replica else str(self.state_dir / "uploads")

    @property
    def public(self) -> bool:
        """Whether others can reach the address."""
        return not _is_loopback(self.host)

    @property
    def _serves_others(self) -> bool:
        return super()._serves_others or self.public or bool(self.public_url)

    @property
    def upload_limit_bytes(self) -> int:
        """The largest file taken."""
        return int(self.upload_limit_mb * 2**20)

    @cached_property
    def identity(self) -> IdentitySettings:
        """How people are distinguished, and who has which role."""
        client_id = self.oidc_client_id or self.oauth_client_id
        wanted = self.identity_mode or ("openid" if client_id else "local" if self.insecure_allow_public else "")
        if wanted not in ("", "local", "openid"):
            raise ValueError(
                _("IDENTITY={wanted} is neither local nor openid. Leave it out, or write one of them.", wanted=wanted)
            )
        given = (self.session_secret.get_secret_value(), self.session_secret_previous.get_secret_value())
        secrets = tuple(filter(None, given))
        if wanted != "openid":
            return IdentitySettings(self._mode_without_sign_in(wanted), session_secrets=secrets)
        own_address = f"https://{self.space_host.lower()}" if self.space_host else ""
        return IdentitySettings(
            mode=Mode.OPENID,
            public_url=self.public_url or own_address,
            client_id=client_id,
            client_secret=(self.oidc_client_secret or self.oauth_client_secret).get_secret_value(),
            issuer=self.oidc_issuer or self.openid_provider_url.rstrip("/") or HUGGING_FACE,
            session_secrets=secrets,
            owners=self.owners,
            maintainers=self.maintainers,
            maintainer_org=self.maintainer_org,
        )

    def _mode_without_sign_in(self, wanted: str) -> Mode:
        if not wanted and not self.public:  # full access for everybody is nothing to fall into
            raise ValueError(_UNDECIDED)
        if self.public and not self.insecure_allow_public:
            raise ValueError(_public_refusal(self.host, bool(self.space_id)))
        return Mode.OPEN if self.insecure_allow_public else Mode.LOCAL

    @property
    def frame_ancestors(self) -> tuple[str, ...]:
        """Whose frames pages may be embedded in: Hugging Face's and, on a Space, its own host's; no other Space's."""
        if self.identity.mode is Mode.LOCAL:
            return ()
        host = self.space_host.lower()
        return (*([f"https://{host}"] if _HOST.fullmatch(host) else []), HUGGING_FACE)

    @property
    def keys_dir(self) -> Path:
        """The private key that receipts are signed with, where RECEIPT_KEY does not hold one."""
        return self.state_dir / "keys"

    @property
    def spool_dir(self) -> Path:
        """Files on their way in; what was left behind is removed when a service starts, after an hour."""
        return self.state_dir / "spool"

    @property
    def gradio_dir(self) -> Path:
        """Files that were uploaded to the pages; deleted within the hour."""
        return self.state_dir / "gradio"

    @property
    def private_paths(self) -> list[Path]:
        """What is in the data directory beside `gradio_dir`, there already or to come: not for Gradio to serve."""
        named = {self.state_dir / name for name in _STATE_NAMES} | {Path(spec.source) for spec in self.label_specs}
        named |= set(self.label_import_dirs)
        paths = {path for folder in (self.data_dir, self.state_dir) if folder.is_dir() for path in folder.iterdir()}
        return sorted(path.absolute() for path in named | paths if path not in (self.gradio_dir, self.state_dir))


def _public_refusal(host: str, on_a_space: bool) -> str:
    if on_a_space:
        return _(
            "This Space would be reachable by others, and no sign-in is configured: anybody could submit. Write "
            "hf_oauth: true in the Space's README, or accept that by setting INSECURE_ALLOW_PUBLIC=1 among the "
            "Space's variables."
        )
    return _(
        "HOST={host} would make this service reachable by others, and no sign-in is configured: anybody could submit. "
        "Configure it (OIDC_CLIENT_ID), leave HOST at 127.0.0.1, or accept that by setting INSECURE_ALLOW_PUBLIC=1.",
        host=host,
    )


def _check_revision(setting_name: str, name: str, *, known: Sequence[str], full_name: str = "") -> None:
    """Raise ValueError where a setting names a revision without labels. `known`: those that have some."""
    if name and (full_name or name) not in known:
        names = ", ".join(name.removeprefix(f"{DEFAULT_BENCHMARK}/") for name in sorted(known))
        raise ValueError(
            _(
                "{setting} names {name}, which is not among the revisions in LABELS ({shown}). "
                "Name one of those, or leave it out.",
                setting=setting_name,
                name=name,
                shown=names,
            )
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _keys(cls: type[BaseSettings]) -> Iterator[tuple[str, FieldInfo]]:
    """Return the key of each setting, which is its environment name in small letters."""
    return ((info.alias or name, info) for name, info in cls.model_fields.items())


def _sentence(cls: type[BaseSettings], error: ValidationError) -> str:
    """Return the first problem as a sentence that names the setting and the remedy."""
    first = error.errors()[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    name = key.upper()
    if first["type"] == "value_error":
        text = str(first["ctx"]["error"])
        if isinstance(text, Message) and not text.values:  # a validator of one field does not know its name
            return _(text.msgid, name=name, value=str(first["input"]))
        return text
    info = dict(_keys(cls))[key]
    limits = {
        type(limit).__name__.lower(): getattr(limit, type(limit).__name__.lower())
        for limit in info.metadata
        if type(limit).__name__ in ("Ge", "Le")
    }
    pattern = (
        _("{name}={value} is not a whole number from {ge} to {le}. For instance {name}={default}.")
        if info.annotation is int
        else _("{name}={value} is not a number from {ge} to {le}. For instance {name}={default}.")
    )
    numbers = {key: f"{number:g}" for key, number in (*limits.items(), ("default", info.default))}
    return _(pattern.msgid, name=name, value=str(first["input"]), **numbers)


SETTING_NAMES = tuple(key.upper() for key, _ in _keys(Settings) if key.upper() not in SPACE_NAMES)
"""What a person may set."""

_NOT_FOR_WORKERS = {"UPLOADS_URL"}  # its address may hold a password, and no worker opens an upload
SECRET_NAMES = tuple(
    key.upper()
    for key, info in _keys(Settings)
    if key not in dict(_keys(WorkerSettings)) and (info.annotation is SecretStr or key.upper() in _NOT_FOR_WORKERS)
)
"""What no other process than the web app's needs."""


def documentation() -> str:
    """`docs/settings.md`, from the declarations."""
    rows = []
    for key, info in dict(_keys(Settings)).items():
        if key.upper() not in SPACE_NAMES:
            extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
            default = f"{info.default:g}" if isinstance(info.default, float) else str(info.default)
            default_text = extra.get("shown") or f"`{default}`"
            rows.append(f"| `{key.upper()}` | {default_text} | {info.description} |")
    return _PAGE.format(rows="\n".join(rows), space=", ".join(f"`{name}`" for name in SPACE_NAMES))


_PAGE = """# Settings

The service reads every setting from the environment, once, when it starts. An empty value means unset.
A wrong value stops the start with a message that names the setting and the remedy.
This page is generated: `python -m settings > docs/settings.md`.

| setting | default | meaning |
|---|---|---|
{rows}

On a Hugging Face Space the service also reads {space}, which the Space sets itself.
"""

if __name__ == "__main__":
    sys.stdout.write(documentation())
