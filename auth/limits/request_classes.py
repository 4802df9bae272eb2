"""Request classes for rate limiting: which limit applies, and whether the body is an upload. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from auth.csrf import SAFE_METHODS

_KINDS = {
    ("POST", "/api/v1/check"): "check",
    ("POST", "/api/v1/submissions"): "submit",
    ("GET", "/auth/sign-in"): "sign-in",
    ("GET", "/auth/callback"): "sign-in",
}
_SHEETS = "/api/v1/verification/"  # of their own, so that who answers quickly can still do everything else
_FILES = frozenset({"check", "submit", "upload"})
_GRADIO = "/gradio_api/"  # below whatever page Gradio serves; all that calls a function is sent with POST
# What stays open until an answer comes. One that nobody has asked for is a traceback in the log.
_LISTENS = tuple(f"{_GRADIO}{name}" for name in ("queue/data", "call/", "heartbeat/"))


def rate_limit_class(scope: Mapping[str, Any]) -> str:
    """Return what a request does that is counted: whatever changes something, signs in or listens; "" for everything
    else."""
    if scope["type"] != "http":
        return ""
    method, path = scope["method"], scope["path"]
    if method == "POST" and _GRADIO in path:
        return "upload" if path.partition(_GRADIO)[2] == "upload" else "page"
    if method == "GET" and any(part in path for part in _LISTENS):
        return "listen"
    if result := _KINDS.get((method, path)):
        return result
    if method in SAFE_METHODS:
        return "compute" if _computes(scope) else ""
    return "account" if path.startswith("/account") else "answer" if path.startswith(_SHEETS) else "change"


def _computes(scope: Mapping[str, Any]) -> bool:
    """Return whether the answer may have to be made for this request alone: a view, a board of the past, a file, a
    picture."""
    path = scope["path"]
    if path.startswith(("/app", "/auth", "/account", "/maintain", "/static/")):
        return False
    return bool(scope.get("query_string")) or path.startswith(("/export/", "/judges/")) or path.endswith("/og.png")


def is_upload(scope: Mapping[str, Any]) -> bool:
    """Return whether its body may be as large as a file; every other body is read as a whole before anybody looks at
    it."""
    return rate_limit_class(scope) in _FILES
