"""Every setting of the service, read once from the environment. Nobody else reads it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from identity.settings import HUGGING_FACE, IdentitySettings, IdentitySettingsError, Mode

DEMO_REVISION = "demo"
SETTING_NAMES = (
    "HOST",
    "PORT",
    "DATA_DIR",
    "DATABASE_URL",
    "LABELS",
    "LABEL_REVISION",
    "HIDDEN_LABELS",
    "ITEMS_FILE",
    "LEASE_SECONDS",
    "UPLOAD_LIMIT_MB",
    "INSECURE_ALLOW_PUBLIC",
    "IDENTITY",
    "PUBLIC_URL",
    "OIDC_ISSUER",
    "OIDC_CLIENT_ID",
    "OIDC_CLIENT_SECRET",
    "SESSION_SECRET",
    "SESSION_SECRET_PREVIOUS",
    "OWNERS",
    "MAINTAINERS",
    "MAINTAINER_ORG",
    "TRUSTED_PROXIES",
    "QUOTA_PER_DAY",
    "QUOTA_PER_YEAR",
    "QUOTA_EXEMPT_ORGS",
    "ACCOUNT_AGE_DAYS",
    "APPROVE_FIRST_UPLOAD",
    "NULL_VOTES_APPROVAL",
    "NULL_VOTES_PROBE",
    "LADDER_MARGIN",
    "REQUESTS_PER_MINUTE",
    "RECEIPT_KEY",
    "AUDIT_DATASET",
    "AUDIT_TOKEN",
    "UPLOADS_URL",
    "BACKUP_URL",
    "BACKUP_KEEP",
)
"""What a person may set. Read too: SPACE_NAMES."""

SPACE_NAMES = ("SPACE_ID", "SPACE_HOST", "OPENID_PROVIDER_URL", "OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET")
"""What Hugging Face sets on a Space, the last three where its README says `hf_oauth: true`."""

SECRET_NAMES = (
    "SESSION_SECRET",
    "SESSION_SECRET_PREVIOUS",
    "OIDC_CLIENT_SECRET",
    "OAUTH_CLIENT_SECRET",
    "RECEIPT_KEY",
    "UPLOADS_URL",
)
"""What no other process than the web app's needs."""

_SHORTEST_PREFIX = {4: 8, 6: 16}  # of a network of proxies
_SPACE_PROXIES = "10.0.0.0/8"  # a Space is reached through Hugging Face's own network only

_ANYWHERE = "0.0.0.0"  # noqa: S104 (a Space cannot be reached otherwise; refused below unless it is meant)
_DATABASE = "leaderboard.db"
_FOLDERS = ("uploads", "spool", "labels", "audit", "keys", "backups")
_STATE_NAMES = (_DATABASE, f"{_DATABASE}-wal", f"{_DATABASE}-shm", *_FOLDERS)
_REVISION = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
_HOST = re.compile(r"[a-z0-9.-]+")
_DATASET = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_UNDECIDED = (
    "Nothing says who may do what here: set IDENTITY=local if everybody who reaches this service on this machine may "
    "do everything (make serve does that), OIDC_CLIENT_ID for sign-in, or INSECURE_ALLOW_PUBLIC=1 to let everybody "
    "submit and nobody maintain."
)
_YES, _NO = frozenset({"1", "true", "yes", "on"}), frozenset({"", "0", "false", "no", "off"})


class SettingsError(ValueError):
    """A setting is wrong; the message names it and says what to write instead."""


class LabelSpec(NamedTuple):
    """Where one revision of the labels is found."""

    revision: str
    source: str  # path of a JSONL, JSON or parquet file, or `owner/name@commit` of a Hub dataset


@dataclass(frozen=True, slots=True)
class Settings:
    """What was decided about this installation; see the table in README.md."""

    host: str = "127.0.0.1"
    port: int = 7860
    data_dir: Path = Path("data")
    database_url: str = ""
    label_specs: tuple[LabelSpec, ...] = ()
    label_revision: str = DEMO_REVISION
    hidden_labels: frozenset[str] = frozenset()
    texts: Path | None = None
    lease_seconds: float = 60.0
    upload_limit_bytes: int = 64 * 2**20
    public: bool = False
    identity: IdentitySettings = field(default_factory=IdentitySettings)
    trusted_proxies: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    quota_per_day: int = 1
    quota_per_year: int = 12
    quota_exempt_orgs: tuple[str, ...] = ()
    account_age_days: int = 0
    approve_first_upload: bool = False
    null_votes_approval: float = 0.15  # a fraction of the votes or pairs, under labels that are not public
    null_votes_probe: float = 0.05
    ladder_margin: float = 0.0  # a fraction; 0: every score is shown
    requests_per_minute: int = 120
    receipt_key: str = field(default="", repr=False)
    audit_dataset: str = ""
    audit_token: str = field(default="", repr=False)
    uploads_url: str = field(default="", repr=False)
    backup_url: str = field(default="", repr=False)
    backup_keep: int = 14

    @classmethod
    def from_env(cls, environ: Mapping[str, str], *, serves: bool = True) -> Settings:
        """Read and check every setting. `serves`: whether this process answers requests; others need no sign-in.

        Raises:
            SettingsError: the first setting that cannot be used, with the remedy.
        """
        on_a_space = bool(environ.get("SPACE_ID"))
        host = environ.get("HOST", "").strip() or (_ANYWHERE if on_a_space else "127.0.0.1")
        public = not _is_loopback(host)
        identity = _identity(environ, host, public, on_a_space) if serves else IdentitySettings()
        data_dir = Path(environ.get("DATA_DIR", "").strip() or "data").absolute()
        specs = _label_specs(environ.get("LABELS", ""))
        state_dir = data_dir if specs else data_dir / "demo"
        return cls(
            host=host,
            port=int(_number(environ, "PORT", 7860, low=0, high=65535, whole=True)),
            data_dir=data_dir,
            database_url=_database_url(environ.get("DATABASE_URL", ""), state_dir),
            label_specs=specs,
            label_revision=_label_revision(environ.get("LABEL_REVISION", ""), specs),
            texts=_texts(environ.get("ITEMS_FILE", "")),
            hidden_labels=_hidden_labels(environ.get("HIDDEN_LABELS", ""), specs),
            lease_seconds=_number(environ, "LEASE_SECONDS", 60.0, low=0.1, high=86_400),
            upload_limit_bytes=int(_number(environ, "UPLOAD_LIMIT_MB", 64, low=0.001, high=4096) * 2**20),
            public=public,
            identity=identity,
            trusted_proxies=_proxies(environ.get("TRUSTED_PROXIES", "").strip() or (_SPACE_PROXIES * on_a_space)),
            frames=_frames(environ) if identity.mode is not Mode.LOCAL else (),
            quota_per_day=int(_number(environ, "QUOTA_PER_DAY", 1, low=0, high=1000, whole=True)),
            quota_per_year=int(_number(environ, "QUOTA_PER_YEAR", 12, low=0, high=100_000, whole=True)),
            quota_exempt_orgs=_names(environ.get("QUOTA_EXEMPT_ORGS", "")),
            account_age_days=int(_number(environ, "ACCOUNT_AGE_DAYS", 0, low=0, high=3650, whole=True)),
            approve_first_upload=_flag(environ, "APPROVE_FIRST_UPLOAD"),
            null_votes_approval=_number(environ, "NULL_VOTES_APPROVAL", 15, low=0, high=100) / 100,
            null_votes_probe=_number(environ, "NULL_VOTES_PROBE", 5, low=0, high=100) / 100,
            ladder_margin=_number(environ, "LADDER_MARGIN", 0, low=0, high=100) / 100,
            requests_per_minute=int(_number(environ, "REQUESTS_PER_MINUTE", 120, low=0, high=1e6, whole=True)),
            receipt_key=environ.get("RECEIPT_KEY", "").strip(),
            audit_dataset=_dataset(environ, "AUDIT_DATASET"),
            audit_token=environ.get("AUDIT_TOKEN", "").strip(),
            uploads_url=environ.get("UPLOADS_URL", "").strip() or str(state_dir / "uploads"),
            backup_url=environ.get("BACKUP_URL", "").strip() or str(state_dir / "backups"),
            backup_keep=int(_number(environ, "BACKUP_KEEP", 14, low=0, high=10_000, whole=True)),
        )

    @property
    def demo(self) -> bool:
        """True while no labels are configured: synthetic items, synthetic labels."""
        return not self.label_specs

    @property
    def benchmark(self) -> str:
        """Name of the benchmark served, as it stands in reports and scorecards."""
        return "demo" if self.demo else "vl-rewardbench"

    @property
    def demo_dir(self) -> Path:
        """Where the synthetic benchmark lives."""
        return self.data_dir / "demo"

    @property
    def items_file(self) -> Path | None:
        """The item manifest of the demo; None for the benchmark that ships with the project."""
        return self.demo_dir / "items.json" if self.demo else None

    @property
    def texts_file(self) -> Path | None:
        """The pairs' texts, without labels, for the explore page; None where only facts are shown."""
        return self.demo_dir / "pairs.jsonl" if self.demo else self.texts

    @property
    def state_dir(self) -> Path:
        """Database and uploads. The demo has its own, so that its judges never meet real labels."""
        return self.demo_dir if self.demo else self.data_dir

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
        found = {path for folder in (self.data_dir, self.state_dir) if folder.is_dir() for path in folder.iterdir()}
        return sorted(path.absolute() for path in named | found if path not in (self.gradio_dir, self.state_dir))


def _identity(environ: Mapping[str, str], host: str, public: bool, on_a_space: bool) -> IdentitySettings:
    """How people are told apart, and who has which role."""

    def first(*names: str) -> str:
        return next((value for name in names if (value := environ.get(name, "").strip())), "")

    client_id = first("OIDC_CLIENT_ID", "OAUTH_CLIENT_ID")
    insecure = _flag(environ, "INSECURE_ALLOW_PUBLIC")
    wanted = first("IDENTITY") or ("openid" if client_id else "local" if insecure else "")
    if wanted not in ("", "local", "openid"):
        raise SettingsError(f"IDENTITY={wanted} is neither local nor openid. Leave it out, or write one of them.")
    if wanted != "openid":
        if not wanted and not public:  # who may do everything is nothing to fall into
            raise SettingsError(_UNDECIDED)
        if public and not insecure:
            raise SettingsError(_public_refusal(host, on_a_space))
        return IdentitySettings(Mode.OPEN if insecure else Mode.LOCAL)
    space_host = first("SPACE_HOST")
    try:
        return IdentitySettings(
            mode=Mode.OPENID,
            public_url=first("PUBLIC_URL") or (f"https://{space_host.lower()}" if space_host else ""),
            client_id=client_id,
            client_secret=first("OIDC_CLIENT_SECRET", "OAUTH_CLIENT_SECRET"),
            issuer=first("OIDC_ISSUER") or first("OPENID_PROVIDER_URL").rstrip("/") or HUGGING_FACE,
            session_secrets=tuple(filter(None, (first("SESSION_SECRET"), first("SESSION_SECRET_PREVIOUS")))),
            owners=_names(environ.get("OWNERS", "")),
            maintainers=_names(environ.get("MAINTAINERS", "")),
            maintainer_org=first("MAINTAINER_ORG"),
        )
    except IdentitySettingsError as error:
        raise SettingsError(str(error)) from None


def _public_refusal(host: str, on_a_space: bool) -> str:
    where = "This Space would be" if on_a_space else f"HOST={host} would make this service"
    remedy = "Say hf_oauth: true in the Space's README" if on_a_space else "Configure it (OIDC_CLIENT_ID)"
    return (
        f"{where} reachable by others, and no sign-in is configured: anybody could submit. {remedy}, "
        + ("" if on_a_space else "leave HOST at 127.0.0.1, ")
        + "or accept that by setting INSECURE_ALLOW_PUBLIC=1"
        + (" among the Space's variables." if on_a_space else ".")
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def _proxies(text: str) -> tuple[str, ...]:
    """Raises SettingsError for names, for * and for what is nearly everybody: then clients say for themselves who they
    are."""
    for one in _names(text):
        try:
            network = ipaddress.ip_network(one)
            too_many = network.prefixlen < _SHORTEST_PREFIX[network.version]
        except ValueError:
            too_many = True
        if too_many:
            raise SettingsError(
                f"TRUSTED_PROXIES holds {one!r}, which is no address or network of proxies (at most a /8, IPv6 a /16). "
                "For instance TRUSTED_PROXIES=203.0.113.7,10.0.0.0/8."
            )
    return _names(text)


def _frames(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Whose frames pages may stand in: Hugging Face's and, on a Space, its own host's; no other Space's."""
    host = environ.get("SPACE_HOST", "").strip().lower()
    return (*([f"https://{host}"] if _HOST.fullmatch(host) else []), HUGGING_FACE)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _flag(environ: Mapping[str, str], name: str) -> bool:
    text = environ.get(name, "").strip().lower()
    if text not in _YES | _NO:
        raise SettingsError(f"{name}={text} is neither yes nor no. Write {name}=1 or leave it out.")
    return text in _YES


def _number(
    environ: Mapping[str, str], name: str, default: float, *, low: float, high: float, whole: bool = False
) -> float:
    text = environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = float(int(text)) if whole else float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        kind = "a whole number" if whole else "a number"
        raise SettingsError(f"{name}={text} is not {kind} from {low:g} to {high:g}. For instance {name}={default:g}.")
    return value


def _database_url(text: str, state_dir: Path) -> str:
    text = text.strip()
    if not text:
        return f"sqlite:///{state_dir / _DATABASE}"
    scheme = text.partition("://")[0]
    if scheme == "postgres":  # what many hosts hand out; SQLAlchemy wants the full name
        scheme, text = "postgresql", text.replace("postgres://", "postgresql://", 1)
    if scheme == "postgresql":
        return text.replace("postgresql://", "postgresql+psycopg://", 1)
    if scheme in ("sqlite", "postgresql+psycopg"):
        return text
    # The URL itself is not repeated: it may hold a password.
    raise SettingsError(
        "DATABASE_URL starts with neither sqlite:/// nor postgresql://. "
        "For instance DATABASE_URL=postgresql://user:password@host/leaderboard."
    )


def _texts(text: str) -> Path | None:
    path = Path(text.strip()).absolute() if text.strip() else None
    if path is not None and not path.is_file():
        raise SettingsError(
            f"ITEMS_FILE={text.strip()} is no file. Make it with python -m maintenance items, or leave ITEMS_FILE out."
        )
    return path


def _dataset(environ: Mapping[str, str], name: str) -> str:
    text = environ.get(name, "").strip()
    if text and not _DATASET.fullmatch(text):
        raise SettingsError(f"{name}={text} is no dataset on the Hub. For instance {name}=owner/name.")
    return text


def _label_specs(text: str) -> tuple[LabelSpec, ...]:
    specs: list[LabelSpec] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        revision, sign, source = (piece.strip() for piece in part.partition("="))
        if not sign or not source or not _REVISION.fullmatch(revision):
            raise SettingsError(
                f"LABELS holds {part!r}, which is not revision=file or revision=owner/name@commit. "
                "For instance LABELS=v2=/srv/labels_v2.jsonl,v0=/srv/labels_v0.jsonl."
            )
        if revision == DEMO_REVISION:
            raise SettingsError("LABELS names the revision 'demo', which is kept for the demo. Choose another name.")
        if revision in {spec.revision for spec in specs}:
            raise SettingsError(f"LABELS names the revision {revision} twice. Keep one of them.")
        specs.append(LabelSpec(revision, source))
    return tuple(specs)


def _label_revision(text: str, specs: tuple[LabelSpec, ...]) -> str:
    text = text.strip()
    known = [spec.revision for spec in specs] or [DEMO_REVISION]
    if text and text not in known:
        raise SettingsError(
            f"LABEL_REVISION={text} is not among the revisions in LABELS ({', '.join(known)}). "
            "Name one of those, or leave it out for the first."
        )
    return text or known[0]


def _hidden_labels(text: str, specs: tuple[LabelSpec, ...]) -> frozenset[str]:
    known = {spec.revision for spec in specs} or {DEMO_REVISION}
    for name in _names(text):
        if name not in known:  # a slip of the pen here would disclose the labels that it was meant for
            raise SettingsError(
                f"HIDDEN_LABELS names {name}, which is not among the revisions in LABELS ({', '.join(sorted(known))})."
            )
    return frozenset(_names(text))
