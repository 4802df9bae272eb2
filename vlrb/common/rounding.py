"""Rounding of shares to whole numbers, so that the script and the server round alike."""

from __future__ import annotations


def units(share: float) -> int:
    """Return a share in units of 0.001 percent, the grain of everything that people see and sort."""
    return int(share * 100_000 + 1e-6)


def tenths(share: float) -> int:
    """Return a share in tenths of a percent, half up; the script rounds the same integers the same way."""
    return (units(share) + 50) // 100


def percent(share: float | None) -> str:
    """Return one decimal, half up, below 0 as above it and with a true minus; nothing for None."""
    if share is None:
        return ""
    value = tenths(abs(share))
    return f"{'−' if share < 0 and value else ''}{value // 10}.{value % 10}"


def percent_range(bounds: tuple[float, float] | None) -> str:
    """Return an interval of shares as people read it; nothing for None."""
    return f"{percent(bounds[0])}–{percent(bounds[1])}" if bounds else ""


def one_decimal(percentage: float) -> str:
    """Return a percentage with one decimal, as `percent` writes its share."""
    return percent(percentage / 100)


def points(difference: float, *, signed: bool = False) -> str:
    """Return a difference of shares in points, one decimal; with ``signed`` a sign and a true minus, 0.0 has none."""
    size = percent(abs(difference))
    return size if not signed or size == "0.0" else ("−" if difference < 0 else "+") + size
