"""Refusals by their code, which programs rely on; their sentences may change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def refuses(kind: type[Exception], code: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect an error of a kind with a code."""
    with pytest.raises(kind) as caught:
        yield caught
    assert getattr(caught.value, "code", None) == code
