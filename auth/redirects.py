"""Redirect targets after sign-in: paths of this site only. Pure."""

from __future__ import annotations

import re

HOME = "/"
# No two slashes at its beginning and no backslash, which browsers read as another host; before the query, nothing that
# somebody decodes. The pages of the sign-in itself would send people round in circles.
_PATH = re.compile(r"/(?!/|auth/)[\w./:,~+-]{0,500}(\?[\w./?=&:,~+%-]{0,2000})?(#[\w-]{0,200})?", re.ASCII)


def local_path(target: str | None) -> str:
    """Return the target if it is a path of this site in plain characters, else the home page."""
    return target if target and _PATH.fullmatch(target) else HOME
