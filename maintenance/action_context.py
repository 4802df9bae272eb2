"""Context of an action: the database, the user who asks, and the services of the installation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from auth import ANONYMOUS, Identity
from auth.settings import IdentitySettings
from operation.alarms import Alarms, service_alarms
from storage.database import Database
from vlrb.benchmarks.items import ItemTable

ParseMetadata = Callable[[Mapping[str, object]], Mapping[str, object]]
Shipped = Iterable[Mapping[str, Any]]  # reported results that come with the project: id, name, url, place, figures


class PairTexts(Protocol):
    """Content of a pair. `responses`: A, then B."""

    @property
    def query(self) -> str: ...
    @property
    def responses(self) -> tuple[str, str]: ...
    @property
    def image(self) -> str: ...


class ItemLookup(Protocol):
    """The pairs of the benchmark. `texts` by item index; None where the installation has none."""

    @property
    def table(self) -> ItemTable: ...
    @property
    def texts(self) -> Sequence[PairTexts | None] | None: ...
    def image(self, name: str) -> Path | None:
        """Return the file of an image; None where there is none."""


@dataclass(frozen=True, slots=True)
class PublicEvent:
    """How the public decision log shows an event: `fields` of its body, and a sentence with them in braces."""

    fields: Sequence[str]
    sentence: str
    title: str = ""  # "" is the kind itself, in words
    by_owners: bool = False  # whether an entry's owner may do it as well


@dataclass(frozen=True, slots=True)
class ActionContext:
    """Context of an action. The composition root builds one; each request gets a copy with its user."""

    database: Database
    items: ItemLookup
    user: Identity = ANONYMOUS
    benchmark: str = "demo"
    parse: ParseMetadata = dict  # checks a whole description; raises ValueError with all that is wrong
    shipped: Callable[[], Shipped] = tuple
    identity: IdentitySettings | None = None  # who has which role; None: users are not distinguished, or not known here
    paths: Sequence[Path] = ()  # whose disks are looked at
    import_dirs: Sequence[Path] | None = None  # below which files are read: DATA_DIR/imports; None: anywhere
    public_events: Mapping[str, PublicEvent] = field(default_factory=dict)  # audit kind -> the decision log's sentence
    alarms: Alarms = service_alarms  # what is wrong with the service

    @property
    def author(self) -> dict[str, str]:
        """Who decides, and how we know, as events say it."""
        return {"by": self.user.account, "via": self.user.auth_method}

    def acting_as(self, user: Identity) -> ActionContext:
        """Return the same context for the user of a request."""
        return replace(self, user=user)
