"""Facts about the application that its pages need: benchmark, address prefix, local mode, what else is served."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.translations import ENGLISH, Translations, translations
from vlrb.numbers.definition_check import figure_names


@dataclass(frozen=True, slots=True)
class ServedBenchmark:
    """A benchmark of the service, as pages link to it. ``prefix`` is before its addresses; "" for the first.

    ``figures``: the names of percentages that its number check takes.
    """

    id: str
    title: str
    prefix: str
    figures: tuple[str, ...] = ()

    @classmethod
    def of(cls, spec: BenchmarkSpec, prefix: str = "") -> ServedBenchmark:
        """Return a benchmark by its definition."""
        return cls(spec.id, spec.title, prefix, figures=figure_names(spec))

    @property
    def url(self) -> str:
        """The address of its board."""
        return f"{self.prefix}/"


LANGUAGE: ContextVar[str] = ContextVar("language", default=ENGLISH)
"""The BCP 47 tag of the language that the request at hand is answered in."""
PREFIX = "/b/"
"""What addresses of benchmarks beside the first begin with."""


@dataclass(frozen=True, slots=True)
class RenderContext:
    """What the pages of one benchmark have in common.

    ``local_mode``: every page says that there is no sign-in. ``prefix``: what is before addresses of the
    benchmark, ``/b/<id>`` or "". ``benchmarks``: all that are served, the first one first; fewer than two make no
    picker. ``fixed_language``: of the pages; "" is that of the request.
    """

    spec: BenchmarkSpec = field(default_factory=partial(load_spec, DEFAULT_BENCHMARK))
    local_mode: bool = False
    prefix: str = ""
    benchmarks: tuple[ServedBenchmark, ...] = ()
    fixed_language: str = ""

    @property
    def language(self) -> str:
        """The BCP 47 tag of the language of the pages."""
        return self.fixed_language or LANGUAGE.get()

    @property
    def translations(self) -> Translations:
        """The sentences of its language."""
        return translations(self.language)

    def in_language(self, language: str) -> RenderContext:
        """Return the context of the same pages in another language."""
        return replace(self, fixed_language=language)


def contexts_of(specs: Sequence[BenchmarkSpec], *, local_mode: bool = False) -> tuple[RenderContext, ...]:
    """Return the context of each benchmark of a service; the first has the addresses without a prefix."""
    served = tuple(ServedBenchmark.of(spec, f"{PREFIX}{spec.id}" if place else "") for place, spec in enumerate(specs))
    return tuple(
        RenderContext(spec, local_mode, prefix=reference.prefix, benchmarks=served if len(served) > 1 else ())
        for spec, reference in zip(specs, served, strict=True)
    )
