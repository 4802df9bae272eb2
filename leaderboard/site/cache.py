"""In-memory cache of rendered pages: one version per snapshot, each page rendered at most once.

A request never waits for the database longer than one cheap look at what is current, and never for another's page.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import logging
import re
import threading
import time
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Protocol
from uuid import uuid4

import brotli

from leaderboard.ranking.reported_results import ReportedFigures, load_published, merge_imported
from leaderboard.ranking.rows import Board, build_board, relations_summary
from leaderboard.site.render_context import LANGUAGE, RenderContext
from leaderboard.site.serial_executor import SerialExecutor
from storage.database_wait import log_away
from storage.visibility import RemovedEntry
from vlrb.benchmarks import board_rules
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.translations import ENGLISH
from vlrb.disclosure import PUBLIC

CHECK_EVERY = 0.5  # seconds between looks at what is current
BROTLI_QUALITY = 11  # of pages and files that many ask for; a quarter of a second for the board
_STYLE = re.compile(rb"<style>(.*?)</style>", re.DOTALL)
SNAPSHOT_DIGITS = 16  # of a snapshot's id in addresses
_KEPT_BOARDS = 8
_KEPT_BODIES = 512
_KEPT_PARTS = 4096  # rows of pages, each of a kilobyte
_KEPT_BYTES = 64 * 2**20  # of these: anybody may ask for as many views of a large board as they like
_KEPT_OLD = 4  # old boards, each with what was made of it; one of 10,000 entries takes about 100 MB

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CurrentSnapshot:
    """The state of the public board: the current snapshot, since when scores are delayed (None: they are not), what
    maintainers say while they take no submissions (None: they take them), which entries are off the board now, and the
    disclosure levels of label revisions."""

    snapshot_id: str | None
    delayed_since: datetime | None = None
    paused: str | None = None
    off: frozenset[RemovedEntry] = frozenset()
    levels: Mapping[str, str] = field(default_factory=dict)

    @property
    def decided(self) -> frozenset[object]:
        """What concerns old boards too."""
        return self.off | frozenset(self.levels.items())

    def shows_as(self, other: CurrentSnapshot) -> bool:
        """Return whether the same entries are shown under both, with the same numbers."""
        return (self.snapshot_id, self.decided) == (other.snapshot_id, other.decided)


class SnapshotSource(Protocol):
    """Where snapshots come from. Both methods block; they are called from a thread."""

    def current(self) -> CurrentSnapshot:
        """Return the state of the public board; cheap."""

    def load(self, snapshot_id: str, *, old: bool = False) -> Mapping[str, Any]:
        """Return the body of a snapshot, without entries that are hidden now; unless it is ``old``, without all that
        are off the board now."""

    def find(self, when: str) -> str | None:
        """Return the id of the snapshot that was current at a day or an instant, or whose id begins so; None without
        one.

        Raises:
            ValueError: ``when`` is none of these.
        """


@dataclass(frozen=True, slots=True, eq=False)
class CachedResponse:
    """One response, in every encoding that pays, each with its strong ETag."""

    media_type: str
    encodings: Mapping[str, bytes]  # by content-coding; "identity" always
    etags: Mapping[str, str]
    style: str = ""  # the source of a Content-Security-Policy that allows the page's own style sheet

    @classmethod
    def of(cls, content: bytes, media_type: str, *, quick: bool = False) -> CachedResponse:
        """Compress once. ``quick`` for pages that are probably asked for a single time."""
        digest = hashlib.sha256(content).hexdigest()[:20]
        encodings = {"identity": content, "gzip": gzip.compress(content, 5 if quick else 9, mtime=0)}
        if not quick:
            large = 6 if len(content) > 400_000 else min(BROTLI_QUALITY, 10)  # a tenth of a second, as all others
            quality = BROTLI_QUALITY if len(content) < 200_000 else large
            encodings["br"] = brotli.compress(content, quality=quality)
        own = _STYLE.search(content) if media_type.startswith("text/html") else None
        style = f"'sha256-{b64encode(hashlib.sha256(own[1]).digest()).decode()}'" if own else ""
        return cls(media_type, encodings, {name: f'"{digest}-{name}"' for name in encodings}, style=style)

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return sum(map(len, self.encodings.values()))

    def choose(self, accept_encoding: str) -> str:
        """Return the best content-coding that the client takes."""
        accepted = {
            part.partition(";")[0].strip() for part in accept_encoding.split(",") if "q=0" not in part.split(";")[1:]
        }
        return next((name for name in ("br", "gzip") if name in accepted and name in self.encodings), "identity")


@dataclass(slots=True)
class BoardVersion:
    """One snapshot and all that was made of it so far."""

    snapshot_id: str
    snapshot: Mapping[str, Any]
    context: RenderContext
    published: Sequence[ReportedFigures]
    delayed_since: datetime | None = None
    paused: str | None = None
    public_url: str = ""  # the service's public address, where one is configured
    executor: SerialExecutor = field(default_factory=SerialExecutor)
    serial: str = field(default_factory=lambda: uuid4().hex)  # of no two versions the same
    _boards: OrderedDict[tuple[str, str, str], Board] = field(default_factory=OrderedDict)
    _bodies: OrderedDict[str, CachedResponse] = field(default_factory=OrderedDict)
    _drawn: dict[Hashable, Any] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _translated: dict[str, BoardVersion] = field(default_factory=dict)

    @property
    def spec(self) -> BenchmarkSpec:
        """The definition of the benchmark."""
        return self.context.spec

    @property
    def public_base(self) -> str:
        """Where the benchmark's pages stand for others; "" where that is not known."""
        return self.public_url and self.public_url + self.context.prefix

    @property
    def revisions(self) -> tuple[str, ...]:
        """Label revisions there is a board for."""
        return tuple(self.snapshot["label_revisions"])

    def is_redacted(self, revision: str) -> bool:
        """Return whether a label revision is not public, so that only its level is shown, under one rule and
        grouping."""
        return self.level(revision) != PUBLIC

    def level(self, revision: str) -> str:
        """Return the disclosure level of a label revision (benchmark.disclosure)."""
        return str(self.snapshot.get("disclosure", {}).get(revision, PUBLIC))

    def relations_summary(self, revision: str) -> Mapping[str, Any]:
        """Return what the snapshot says of the pairwise statistics under a label revision; empty without them."""
        return relations_summary(self.snapshot, revision)

    def board(self, protocol: str = "", grouping: str = "", *, revision: str = "") -> Board:
        """Return the board under these rules, built once; "" is the ranking rule, the official grouping, the current
        labels.

        Raises:
            KeyError: as build_board.
        """
        label_revision = revision or self.snapshot["label_revision"]
        usual = (self.spec.ranking, self.spec.official)
        rules = usual if self.is_redacted(label_revision) else (protocol or usual[0], grouping or usual[1])
        key = (*rules, label_revision)
        with self._lock:
            board = self._boards.get(key)
        if board is None:
            built = build_board(
                self.snapshot,
                self.spec,
                protocol=key[0],
                grouping=key[1],
                revision=key[2],
                published=self.published,
            )
            board = replace(built, snapshot_id=self.snapshot_id)
            self._keep(self._boards, key, value=board, limit=_KEPT_BOARDS)
        return board

    def entry(self, entry_id: str) -> Mapping[str, Any] | None:
        """Return the entry of the snapshot with this id."""
        return next((entry for entry in self.snapshot["entries"] if entry["id"] == entry_id), None)

    def has_entry(self, entry_id: str) -> bool:
        """Return whether this benchmark has, or had, an entry or reported result with this id."""
        if self.entry(entry_id) is not None or self.removed_entry(entry_id) is not None:
            return True
        return any(result.id == entry_id for result in self.published)

    def removed_entry(self, entry_id: str) -> Mapping[str, Any] | None:
        """Return what is left of an entry that was withdrawn; None of all others."""
        return next((stub for stub in self.snapshot.get("stubs", ()) if stub["id"] == entry_id), None)

    def get_cached(self, key: str) -> CachedResponse | None:
        """Return a body made before."""
        with self._lock:
            body = self._bodies.get(key)
            if body is not None:
                self._bodies.move_to_end(key)
            return body

    def get_or_render(self, key: str, make: Callable[[], CachedResponse]) -> CachedResponse:
        """Return the body under a key, made at most once (twice if two ask at the same moment)."""
        cached = self.get_cached(key)
        if cached is None:
            cached = make()
            self._keep(self._bodies, key, value=cached, limit=_KEPT_BODIES)
            with self._lock:
                while sum(body.size for body in self._bodies.values()) > _KEPT_BYTES:
                    self._bodies.popitem(last=False)
        return cached

    def drawn(self, key: Hashable, draw: Callable[[], Any]) -> Any:
        """Return a part of pages that is drawn once, such as a row under some rules."""
        part = self._drawn.get(key)
        if part is None:
            if len(self._drawn) >= _KEPT_PARTS:
                self._drawn.clear()
            part = self._drawn[key] = draw()
        return part

    async def ready(self, key: str, make: Callable[[], CachedResponse]) -> CachedResponse:
        """Do as ``get_or_render``, beside the event loop and in turn: a large board takes a second under other rules.

        Raises:
            QueueFull: too many others wait.
        """
        cached = self.get_cached(key)
        return cached if cached is not None else await self.executor.take(partial(self.get_or_render, key), make)

    def with_notices(self, current: CurrentSnapshot) -> BoardVersion:
        """Return the same snapshot with other notices; pages are made anew, boards are not."""
        return self._with_other_pages(delayed_since=current.delayed_since, paused=current.paused)

    def in_language(self, language: str) -> BoardVersion:
        """Return the same snapshot and boards with pages in another language, which are cached apart."""
        if language == self.context.language:
            return self
        with self._lock:
            if language not in self._translated:
                self._translated[language] = self._with_other_pages(context=self.context.in_language(language))
            return self._translated[language]

    def _with_other_pages(self, **changes: Any) -> BoardVersion:
        return replace(self, **changes, serial=uuid4().hex, _bodies=OrderedDict(), _drawn={}, _translated={})

    def _keep(self, cached: OrderedDict[Any, Any], key: Any, *, value: Any, limit: int) -> None:
        with self._lock:
            cached[key] = value
            while len(cached) > limit:
                cached.popitem(last=False)


_OldKey = tuple[str, str, frozenset[object]]  # its snapshot, the current one, what concerns old boards too


class BoardCache:
    """The current board version, looked up at most every ``check_every`` seconds."""

    def __init__(
        self,
        source: SnapshotSource,
        *,
        context: RenderContext | None = None,
        published: Sequence[ReportedFigures] | None = None,
        public_url: str = "",
        warm: Callable[[BoardVersion], object] | None = None,
        check_every: float = CHECK_EVERY,
    ) -> None:
        """``context``: of the pages that are made of its boards. ``warm`` prepares a version before it is shown
        (see ``board.pages.front_page``); ``public_url`` is in front of links that leave the site, "" is the address
        that a request came to."""
        self._public_url = public_url.rstrip("/")
        self._source = source
        self.context = context or RenderContext()
        self.spec = self.context.spec
        self._empty = empty_snapshot(self.spec.id)
        self._published = published
        self._warm = warm
        self._check_every = check_every
        self.clock: Callable[[], float] = time.monotonic
        self._board_version: BoardVersion | None = None
        self._current: CurrentSnapshot | None = None
        self._checked = float("-inf")
        self._refreshing = threading.Lock()
        self._old: dict[_OldKey, BoardVersion] = {}
        # A thread of its own: however many wait for pages, files or old boards, what is current is looked at.
        self._looking = ThreadPoolExecutor(1, "look")
        self.executor = SerialExecutor()  # for what is made for anybody who asks
        self._old_executor = SerialExecutor()  # so that nobody can make us hold many old boards at once

    def peek(self) -> BoardVersion | None:
        """Return the board version if it was checked a moment ago; None if somebody should look."""
        if self._board_version is None or self.clock() - self._checked >= self._check_every:
            return None
        return _spoken(self._board_version)

    async def current(self) -> BoardVersion:
        """Return the board version to serve; looks at what is current in a thread when that is due."""
        board_version = self.peek()
        if board_version is None and self._refreshing.locked():
            board_version = self._board_version  # a new board is being made; nobody but who found it waits for that
        if board_version is None:
            loop = asyncio.get_running_loop()
            board_version = await loop.run_in_executor(self._looking, lambda: self.peek() or self.refresh())
        return _spoken(board_version)

    async def at(self, when: str) -> BoardVersion | None:
        """Return the board as it was: at a day or an instant, or that of a snapshot's id. "" is now; None: there was
        none.

        Raises:
            ValueError: ``when`` is none of these.
            QueueFull: too many others wait for old boards.
        """
        current = await self.current()
        if not when:
            return current
        snapshot_id = await asyncio.to_thread(self._source.find, when)
        if snapshot_id is None or snapshot_id == current.snapshot_id:
            return None if snapshot_id is None else current
        # What is hidden meanwhile leaves old boards too, and every other decision makes another current snapshot.
        key = (snapshot_id, current.snapshot_id, self._current.decided if self._current is not None else frozenset())
        old = self._old.get(key)
        return _spoken(await self._old_executor.take(self._old_version, key) if old is None else old)

    def _old_version(self, key: _OldKey) -> BoardVersion:
        """Read an old board, unless somebody else has meanwhile, and keep it."""
        board_version = self._old.get(key) or self._version(key[0], self._source.load(key[0], old=True))
        self._old[key] = board_version
        for first in list(self._old)[:-_KEPT_OLD]:
            self._old.pop(first, None)
        return board_version

    def _version(self, snapshot_id: str, snapshot: Mapping[str, Any], **notices: Any) -> BoardVersion:
        """Return a board under the rules of its snapshot, whatever those of the definition have become."""
        spec = board_rules.under(self.spec, snapshot.get("rules") or "")
        shipped = load_published(spec) if self._published is None else self._published
        return BoardVersion(
            snapshot_id,
            snapshot,
            context=replace(self.context, spec=spec, fixed_language=ENGLISH),
            published=merge_imported(shipped, snapshot, spec=spec),
            public_url=self._public_url,
            executor=self.executor,
            **notices,
        )

    def refresh(self) -> BoardVersion:
        """Look at what is current now, and load it. Meanwhile everybody else gets the version before."""
        return _spoken(self._refreshed())

    def _refreshed(self) -> BoardVersion:
        before = self._board_version
        if not self._refreshing.acquire(blocking=before is None) and before is not None:
            return before
        try:
            self._checked = self.clock()
            return self._look()
        except Exception as error:  # the edge: an old board is better than none while the database is away
            if before is None:
                self._checked = float("-inf")
                raise
            if not log_away(error):
                log.exception("board.refresh_failed")
            return before
        finally:
            self._refreshing.release()

    def _look(self) -> BoardVersion:
        current = self._source.current()
        board_version = self._board_version
        if board_version is not None and current == self._current:
            return board_version
        if board_version is not None and self._current is not None and current.shows_as(self._current):
            board_version = board_version.with_notices(current)
        else:
            snapshot = self._empty if current.snapshot_id is None else self._source.load(current.snapshot_id)
            notices = {"delayed_since": current.delayed_since, "paused": current.paused}
            board_version = self._version(current.snapshot_id or "", snapshot, **notices)
        if self._warm is not None:
            self._warm(board_version)
        self._board_version, self._current = board_version, current
        return board_version


def _spoken(board_version: BoardVersion) -> BoardVersion:
    """Return a board version with pages in the language of the request at hand."""
    return board_version.in_language(LANGUAGE.get())


def empty_snapshot(benchmark: str) -> dict[str, Any]:
    """Return what there is to show before the worker has written anything."""
    return {
        "created_at": "",
        "benchmark": benchmark,
        "label_revision": "",
        "label_revisions": [],
        "scorer_version": "",
        "sizes": {},
        "entries": [],
    }
