"""Refusals by their code, which programs rely on; their sentences may change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def refuses(kind: type[Exception], code: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect an error of a kind with a code, its own or that of each problem it lists."""
    with pytest.raises(kind) as caught:
        yield caught
    codes = {problem.code for problem in getattr(caught.value, "problems", ())}
    assert (codes or {getattr(caught.value, "code", None)}) == {code}
