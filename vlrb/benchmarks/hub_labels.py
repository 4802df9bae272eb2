"""Files of a private Hub dataset at a commit. A commit never changes; a branch does, and is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vlrb.common.hub_sources import HubSource
from vlrb.common.messages import _

_MIN_BLOCK = 1 << 16
_REFUSED = (401, 403, 404)


class HubRefusal(Exception):
    """The Hub has no such files for us; the message says what to do."""


def newest_commit(name: str) -> str:
    """Return the commit that a dataset is at now. Raises HubRefusal."""
    from huggingface_hub import HfApi

    with _explained(HubSource(name, "main", path="")):
        return str(HfApi().dataset_info(name).sha)


class HubFiles:
    """Files of a dataset. ``token``: who may read it; "" is that of ``HF_TOKEN``, or nobody's."""

    def __init__(self, source: HubSource, token: str) -> None:
        from huggingface_hub import HfFileSystem  # takes half a second, and only this needs it

        self._source, self._token = source, token or None
        # Always ask: a cached listing would be that of an earlier day.
        self._system = HfFileSystem(token=self._token, use_listings_cache=False, skip_instance_cache=True)

    def names(self) -> list[str]:
        """Return the files' names for ``open``. Raises HubRefusal."""
        with _explained(self._source):
            self._check_commit()
            paths = self._system.find(f"datasets/{self._source}")
        if not paths:
            raise HubRefusal(_nothing(self._source))
        return sorted(map(str, paths))

    def open(self, name: str) -> Any:
        """Return an open file. No read-ahead: pyarrow asks for exactly the byte ranges of the columns."""
        return self._system.open(name, "rb", block_size=_MIN_BLOCK, cache_type="none")

    def _check_commit(self) -> None:
        from huggingface_hub import HfApi

        name, commit, _path = self._source
        known = HfApi(token=self._token).dataset_info(name, revision=commit).sha or ""
        if not known.startswith(commit.lower()):
            raise HubRefusal(
                _(
                    "{commit} is a branch or tag of {name}, and those move. Name the commit: it is at {known} "
                    "now, so write {source}.",
                    commit=commit,
                    name=name,
                    known=known,
                    source=self._source._replace(commit=known),
                )
            )


@contextmanager
def _explained(source: HubSource) -> Iterator[None]:
    """Turn the Hub's refusals into a sentence. What the Hub says is not repeated: it may quote the request."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        yield
    except HfHubHTTPError as error:
        if error.response.status_code not in _REFUSED:  # another try may help
            raise
        raise HubRefusal(
            _(
                "the Hub shows no {name} at commit {commit}. Copy both from its page, below Files and versions, "
                "History; a private or gated dataset needs LABELS_TOKEN, of an account that may read it.",
                name=source.name,
                commit=source.commit,
            )
        ) from None
    except FileNotFoundError:
        raise HubRefusal(_nothing(source)) from None


def _nothing(source: HubSource) -> str:
    return _(
        "{name} has nothing at {path!r} in commit {commit}. Name a file or folder of it.",
        name=source.name,
        path=source.path,
        commit=source.commit,
    )
