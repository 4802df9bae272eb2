"""Traces by OpenTelemetry, an extra: web requests, jobs of workers, and the statements that either sends.

Switched on by the standard setting OTEL_EXPORTER_OTLP_ENDPOINT; the other standard variables (headers, sampler, name of
the service) are read by the SDK. Nothing of OpenTelemetry is imported while it is off.

What leaves is a list of attributes, not a list of exceptions to one: addresses with queries, headers, what an error
says and parameters of statements stay here. Statements hold placeholders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

    from storage.database import Database

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
NOT_TRACED = "healthz,readyz,metrics"  # asked every few seconds by machines
_KEPT = frozenset(
    {
        "http.method",
        "http.request.method",
        "http.route",
        "http.status_code",
        "http.response.status_code",
        "db.system",
        "db.system.name",
        "db.statement",
        "db.query.text",
        "error.type",
    }
)
Trace = Callable[[str], AbstractContextManager[Any]]
"""What a piece of work is done in, by its name."""


class TracingUnavailable(Exception):
    """OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages for it are not installed. Install requirements-otel.lock, or
    leave the setting out."""

    def __init__(self) -> None:
        super().__init__(" ".join((TracingUnavailable.__doc__ or "").split()))


def not_traced(_: str) -> AbstractContextManager[None]:
    """Do a piece of work without a trace."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Tracing:
    """Traces of one process. ``provider`` None: none are made, at no cost."""

    provider: TracerProvider | None = None

    def follow_database(self, database: Database) -> None:
        """Trace statements, inside of requests and jobs alone."""
        if self.provider is not None:
            from opentelemetry.instrumentation.sqlalchemy import SQLAlchemyInstrumentor

            # It names SQLAlchemy below 2.1, of which it uses nothing that 2.1 changed; a test holds that.
            engines = {"engine": database.engine, "skip_dep_check": True}
            SQLAlchemyInstrumentor().instrument(**engines, tracer_provider=self.provider)

    def follow_requests(self, app: Any) -> None:
        """Trace the requests that reach an application of FastAPI; the front page is answered before."""
        if self.provider is not None:
            from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

            FastAPIInstrumentor.instrument_app(
                app, tracer_provider=self.provider, excluded_urls=NOT_TRACED, exclude_spans=["receive", "send"]
            )

    @property
    def trace(self) -> Trace:
        """What to do a job in."""
        if self.provider is None:
            return not_traced
        return self.provider.get_tracer("leaderboard").start_as_current_span

    def close(self) -> None:
        """Send what is left."""
        if self.provider is not None:
            self.provider.shutdown()


NO_TRACING = Tracing()


def start_tracing(endpoint: str, role: str) -> Tracing:
    """Return the traces of a process; none without an endpoint. ``role``: "web" or "worker".

    Raises:
        TracingUnavailable: the packages are missing.
    """
    if not endpoint:
        return NO_TRACING
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.instrumentation import fastapi, sqlalchemy  # noqa: F401 (they are used later)
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise TracingUnavailable from None
    resource = Resource.create({"leaderboard.role": role, **_named(role)})
    provider = TracerProvider(resource=resource)
    provider.sampler = _sampler(provider.sampler)
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(_exporter(exporter)))
    return Tracing(provider)


def _named(role: str) -> dict[str, str]:
    """Return the name of the service, unless a standard variable gives another."""
    from opentelemetry.sdk.resources import OTELResourceDetector

    known = OTELResourceDetector().detect().attributes
    return {} if "service.name" in known else {"service.name": f"leaderboard-{role}"}


def _sampler(chosen: Any) -> Any:
    """Return a sampler that drops statements outside of requests and jobs: workers look for work all the time."""
    from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
    from opentelemetry.trace import SpanKind, get_current_span

    class InsideOfWork(Sampler):
        def should_sample(self, parent_context: Any, trace_id: int, name: str, kind: Any = None, *rest: Any) -> Any:
            parent = get_current_span(parent_context).get_span_context()
            if not parent.is_valid and (kind is SpanKind.CLIENT or name == "connect"):
                return SamplingResult(Decision.DROP)
            return chosen.should_sample(parent_context, trace_id, name, kind, *rest)

        def get_description(self) -> str:
            return f"InsideOfWork({chosen.get_description()})"

    return InsideOfWork()


def _exporter(inner: SpanExporter) -> SpanExporter:
    """Return an exporter that sends what may leave."""
    from opentelemetry.sdk.trace.export import SpanExporter

    class KeptAttributes(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> Any:
            return inner.export([_kept(span) for span in spans])

        def shutdown(self) -> None:
            inner.shutdown()

    return KeptAttributes()


def _kept(span: ReadableSpan) -> ReadableSpan:
    """Return a span without what might name a person, a label or a secret: queries, messages, paths."""
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.trace import Status

    attributes = {name: value for name, value in (span.attributes or {}).items() if name in _KEPT}
    kinds = [(event.attributes or {}).get("exception.type", "") for event in span.events if event.name == "exception"]
    return ReadableSpan(
        name=_name(span, attributes),
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=attributes,
        events=[Event("exception", {"exception.type": kind}) for kind in kinds],
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _name(span: ReadableSpan, attributes: dict[str, Any]) -> str:
    """Return a name without the database's: that of SQLite is a path."""
    return span.name.partition(" ")[0] if any(name.startswith("db.") for name in attributes) else span.name
