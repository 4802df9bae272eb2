"""An edition on the Hub: folders with parquet files by split and a card, and their upload as datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from vlrb.editions.errors import CurateError, UnfinishedError, follow
from vlrb.editions.pools.pool import write_text

_ROWS = 64  # at a time: images are large
QUESTIONS = ("id", "query", "response", "image", "category", "source", "licence", "canary")
LABELS = ("id", "query", "response_a", "response_b", "category", "preferred", "tags", "split")


def write_split(folder: Path, name: str, *, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Write one split as parquet; images are objects with ``bytes`` and ``path``."""
    import datasets
    from pyarrow import Table, parquet

    text = datasets.Value("string")
    kinds = {"response": datasets.List(text), "tags": datasets.List(text), "image": datasets.Image()}
    schema = datasets.Features({column: kinds.get(column, text) for column in columns}).arrow_schema
    path = folder / "data" / f"{name}-00000-of-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    steps = iter(follow(rows, f"Writing {name}"))
    with parquet.ParquetWriter(path, schema) as writer:
        while part := list(islice(steps, _ROWS)):
            writer.write_table(Table.from_pylist(part, schema=schema))


def write_card(folder: Path, splits: Sequence[str], *, body: str, title: str, licence: str) -> None:
    """Write README.md with the header that the Hub reads."""
    from huggingface_hub import DatasetCardData

    files = [{"split": name, "path": f"data/{name}-*.parquet"} for name in splits]
    configs = [{"config_name": "default", "data_files": files}]
    header = DatasetCardData(pretty_name=title, license="other", license_name=licence, configs=configs)
    write_text(folder / "README.md", f"---\n{header.to_yaml()}\n---\n\n{body}")


def upload(name: str, *, folder: Path, message: str, private: bool) -> str:
    """Upload a folder to a dataset, which is made where there is none. Returns the commit.

    Raises:
        CurateError: the dataset is public and must be private, or the Hub refuses; nothing was uploaded.
        UnfinishedError: the Hub cannot be reached.
    """
    from httpx2 import TransportError
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    api = HfApi()
    try:
        api.create_repo(name, repo_type="dataset", private=private, exist_ok=True)
        if private and not api.repo_info(name, repo_type="dataset").private:
            raise CurateError(
                f"The dataset {name} is public, and these are the labels. Nothing was uploaded: name another dataset, "
                "or make this one private."
            )
        done = api.upload_folder(repo_id=name, folder_path=folder, repo_type="dataset", commit_message=message)
    except TransportError as error:
        raise UnfinishedError(
            f"The Hub cannot be reached ({type(error).__name__}). Check the network, then run the same command again."
        ) from None
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CurateError(
            f"The Hub does not take {name} ({reason}). Check that HF_TOKEN holds a token that may write there."
        ) from None
    return str(done.oid)
