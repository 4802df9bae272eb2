"""Traces by OpenTelemetry reach a real collector, hold no secret, and cost nothing while they are off."""

from __future__ import annotations

import gzip
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from operation.tracing import ENDPOINT, NO_TRACING, TracingUnavailable, start_tracing
from settings import Settings, SettingsError
from tests.databases import new_database
from tests.factories.services.service import running, until

SECRET = "canary-5d1f0b"


@dataclass
class TraceCollector:
    """What a collector of OTLP over HTTP was sent."""

    port: int
    bodies: list[bytes] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def spans(self) -> dict[str, list[Any]]:
        """Service -> its spans."""
        result: dict[str, list[Any]] = {}
        for body in list(self.bodies):
            for sent in ExportTraceServiceRequest.FromString(body).resource_spans:
                (name,) = (one.value.string_value for one in sent.resource.attributes if one.key == "service.name")
                result.setdefault(name, []).extend(span for scope in sent.scope_spans for span in scope.spans)
        return result

    def names(self, service: str) -> set[str]:
        return {span.name for span in self.spans().get(service, [])}


@contextmanager
def collecting() -> Iterator[TraceCollector]:
    class TraceHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            assert self.path == "/v1/traces"
            collector.bodies.append(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), TraceHandler) as server:
        collector = TraceCollector(server.server_port)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield collector
        server.shutdown()


def test_web_process_and_worker_send_spans_of_requests_jobs_and_statements(tmp_path: Path) -> None:
    with collecting() as collector:
        environ = {ENDPOINT: collector.endpoint, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        with running(tmp_path / "data", **environ) as service:
            service.http.get("/", headers={"Authorization": f"Bearer {SECRET}"})
            service.http.get(f"/entries/{SECRET}?search={SECRET}", headers={"Cookie": f"session={SECRET}"})
            service.http.get("/healthz")
            until(
                lambda: "GET /entries/{entry_id}" in collector.names("leaderboard-web"), 30, what="the request's span"
            )
            until(lambda: "snapshot.publish" in collector.names("leaderboard-worker"), 30, what="the snapshot's span")
    assert not [body for body in collector.bodies if SECRET.encode() in body or str(tmp_path).encode() in body]
    assert not {"GET /", "GET /healthz"} & collector.names("leaderboard-web")
    (request,) = (span for span in collector.spans()["leaderboard-web"] if span.name == "GET /entries/{entry_id}")
    assert {one.key for one in request.attributes} <= {"http.method", "http.route", "http.status_code"}
    worker = collector.spans()["leaderboard-worker"]
    publish = next(span for span in worker if span.name == "snapshot.publish")
    inside = [span for span in worker if span.parent_span_id == publish.span_id]
    assert any("?" in one.value.string_value for span in inside for one in span.attributes if one.key == "db.statement")
    assert not [span for span in worker if not span.parent_span_id and span.name in ("SELECT", "connect", "PRAGMA")]


def test_an_error_is_sent_by_its_kind_without_parameters(tmp_path: Path) -> None:
    database = new_database(f"sqlite:///{tmp_path}/leaderboard.db")
    with collecting() as collector:
        tracing = start_tracing(collector.endpoint, "worker")
        tracing.follow_database(database)
        with pytest.raises(SQLAlchemyError), tracing.trace("score"), database.read() as session:
            session.execute(text("SELECT * FROM nowhere WHERE label = :label"), {"label": SECRET})
        tracing.close()
        _unfollow()
    score = next(span for span in collector.spans()["leaderboard-worker"] if span.name == "score")
    assert [event.attributes[0].value.string_value for event in score.events] == ["sqlalchemy.exc.OperationalError"]
    assert score.status.message == ""
    assert not [body for body in collector.bodies if SECRET.encode() in body]
    database.close()


def _unfollow() -> None:
    from opentelemetry.instrumentation.sqlalchemy import SQLAlchemyInstrumentor

    SQLAlchemyInstrumentor().uninstrument()


def test_nothing_is_imported_while_it_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    tracing = start_tracing("", "web")
    assert tracing is NO_TRACING
    with tracing.trace("score"):
        tracing.close()


def test_without_the_packages_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(TracingUnavailable, match="Install requirements-otel") as caught:
        start_tracing("http://127.0.0.1:4318", "web")
    assert "\n" not in str(caught.value)


def test_an_address_without_http_is_refused() -> None:
    with pytest.raises(SettingsError, match="For instance OTEL_EXPORTER_OTLP_ENDPOINT=http"):
        Settings.from_env({"IDENTITY": "local", ENDPOINT: "collector:4317"})
