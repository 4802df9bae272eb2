"""Replies with images of pairs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from starlette.responses import FileResponse

_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif"}


def image_reply(path: Path | None, headers: Mapping[str, str]) -> FileResponse | None:
    """Return the reply with an image; None without one, and for a file that browsers might take for something else."""
    kind = _TYPES.get(path.suffix.lower()) if path is not None else None
    return FileResponse(path, headers=headers, media_type=kind) if path is not None and kind is not None else None
