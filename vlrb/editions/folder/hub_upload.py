"""Upload of an edition's folders to the Hub: questions for everybody, labels in a private dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vlrb.common.messages import _
from vlrb.editions.errors import CurateError, UnfinishedError

if TYPE_CHECKING:
    from huggingface_hub import HfApi


def upload_questions(api: HfApi, name: str, *, folder: Path, message: str) -> str:
    """Upload the questions to a dataset, which is made public where there is none. Returns the commit.

    Raises:
        CurateError: the Hub refuses.
    """
    return _upload(api, name, folder=folder, message=message, private=False)


def upload_labels(api: HfApi, name: str, *, folder: Path, message: str) -> str:
    """Upload the labels to a dataset, which is made private where there is none. Returns the commit.

    Raises:
        CurateError: the dataset is public, or the Hub refuses; nothing was uploaded.
    """
    return _upload(api, name, folder=folder, message=message, private=True)


def _upload(api: HfApi, name: str, *, folder: Path, message: str, private: bool) -> str:
    from httpx2 import TransportError
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        api.create_repo(name, repo_type="dataset", private=private, exist_ok=True)
        if private and not api.repo_info(name, repo_type="dataset").private:
            raise CurateError(
                _(
                    "The dataset {name} is public, and these are the labels. Nothing was uploaded: name another "
                    "dataset, or make this one private.",
                    name=name,
                )
            )
        done = api.upload_folder(repo_id=name, folder_path=folder, repo_type="dataset", commit_message=message)
    except TransportError as error:
        raise UnfinishedError(
            f"The Hub cannot be reached ({type(error).__name__}). Check the network, then run the same command again."
        ) from None
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CurateError(
            _(
                "The Hub does not take {name} ({reason}). Check that HF_TOKEN holds a token that may write there.",
                name=name,
                reason=reason,
            )
        ) from None
    return str(done.oid)
