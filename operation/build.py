"""Version and commit of this build."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

BUILD = "0.1.0"
"""As in pyproject.toml; a test holds that."""
COMMIT_FILE = "COMMIT"
"""File beside app.py with the commit, in images and uploads: they are without git."""
UNKNOWN = "unknown"


@cache
def own_commit() -> str:
    """Return the commit of the code that runs."""
    return commit_of(Path(__file__).parents[1])


def commit_of(folder: Path) -> str:
    """Return the commit of a folder with code: as its file says, else its git; "unknown" where neither does."""
    stated = folder / COMMIT_FILE
    if stated.is_file() and (commit := stated.read_text("utf-8").strip()):
        return commit
    if not (folder / ".git").exists():  # one above is of something else
        return UNKNOWN
    command = ["git", "-c", f"safe.directory={folder}", "rev-parse", "HEAD"]  # a service is not the owner of its code
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN
