"""The type of a JSON object, for all that builds or passes one on."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
