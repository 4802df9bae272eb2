"""What kind of request somebody makes: which are counted against floods, and which carry a file. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from identity.origins import SAFE_METHODS

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


def guarded(scope: Mapping[str, Any]) -> str:
    """What a request does that is counted: whatever changes something, signs in or listens; "" for everything else."""
    if scope["type"] != "http":
        return ""
    method, path = scope["method"], scope["path"]
    if method == "POST" and _GRADIO in path:
        return "upload" if path.partition(_GRADIO)[2] == "upload" else "page"
    if method == "GET" and any(one in path for one in _LISTENS):
        return "listen"
    if found := _KINDS.get((method, path)):
        return found
    if method in SAFE_METHODS:
        return "compute" if _computes(scope) else ""
    return "account" if path.startswith("/account") else "answer" if path.startswith(_SHEETS) else "change"


def _computes(scope: Mapping[str, Any]) -> bool:
    """Whether the answer may have to be made for this request alone: a view, a board of the past, a file, a picture."""
    path = scope["path"]
    if path.startswith(("/app", "/auth", "/account", "/static/")):
        return False
    return bool(scope.get("query_string")) or path.startswith("/export/") or path.endswith("/og.png")


def carries_file(scope: Mapping[str, Any]) -> bool:
    """Whether its body may be as large as a file; every other body is read as a whole before anybody looks at it."""
    return guarded(scope) in _FILES
