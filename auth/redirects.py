"""Redirect targets after sign-in: paths of this site only. Pure."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

HOME = "/"
_LONGEST = 2000


def local_path(target: str | None) -> str:
    """Return the target if it is a path of this site, else the home page.

    Browsers read a backslash as a slash, drop tabs and line ends, and take `//host` as another site; proxies decode
    once more than expected. So the target must still be a plain path after three rounds of decoding.
    """
    if not target or len(target) > _LONGEST:
        return HOME
    decoded = target
    for _ in range(4):
        if not _plain(decoded):
            return HOME
        decoded = unquote(decoded)
    # The pages of the sign-in itself would send people round in circles.
    return HOME if decoded.split("?")[0].startswith("/auth/") else target


def _plain(path: str) -> bool:
    if not path.startswith("/") or path.startswith("//") or "\\" in path or not path.isprintable():
        return False
    try:
        parts = urlsplit(path)
    except ValueError:
        return False
    return not parts.scheme and not parts.netloc
