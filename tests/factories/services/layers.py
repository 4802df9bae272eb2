"""The application within its layers of middleware."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI


def application_within(asgi: Any) -> FastAPI:
    """Return the application that answers in English, behind all that stands around it."""
    while not isinstance(asgi, FastAPI):
        asgi = next(vars(asgi)[name] for name in ("_app", "app", "_inner", "inner") if name in vars(asgi))
    return asgi


def flat(routes: Any) -> Iterator[Any]:
    """Yield routes, those of included routers too; their paths are whole."""
    for route in routes:
        inside = getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None)
        if inside:
            yield from flat(inside)
        else:
            yield route
