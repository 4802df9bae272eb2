"""The daily digest of maintainers, as far as e-mail knows it: who may read it, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from storage.database import Session


class DigestLine(Protocol):
    """A line of a digest: what it is about, what there is, and where to go."""

    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def path(self) -> str: ...


@dataclass(frozen=True, slots=True)
class DigestSource:
    """`lines`: what there is after one audit event and up to another, none where there is nothing to say;
    `may_read`: whether an account is a maintainer's now."""

    lines: Callable[[Session, int, int], Sequence[DigestLine]]
    may_read: Callable[[str], bool]
