"""The questions of an edition as a dataset of the Hub: a folder with parquet files by split and a card."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from vlrb.editions.data_card import HIDDEN, PUBLIC
from vlrb.editions.pool import write_text
from vlrb.editions.sources import follow

QUESTIONS = ("id", "query", "response", "image", "category", "source", "licence", "canary")


def write_split(folder: Path, name: str, questions: Iterable[Mapping[str, Any]]) -> None:
    """Write one split as parquet; images are objects with ``bytes`` and ``path``."""
    from datasets import Dataset, Features, Image, List, Value

    text = Value("string")
    kinds = {**dict.fromkeys(QUESTIONS, text), "response": List(text), "image": Image()}
    held = [{column: row.get(column) for column in QUESTIONS} for row in follow(questions, f"Writing {name}")]
    path = folder / "data" / f"{name}-00000-of-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    Dataset.from_list(held, Features(kinds)).to_parquet(path)


def write_card(folder: Path, body: str, *, title: str, licence: str) -> None:
    """Write README.md with the header that the Hub reads."""
    from huggingface_hub import DatasetCardData

    files = [{"split": name, "path": f"data/{name}-*.parquet"} for name in (PUBLIC, HIDDEN)]
    configs = [{"config_name": "default", "data_files": files}]
    header = DatasetCardData(pretty_name=title, license="other", license_name=licence, configs=configs)
    write_text(folder / "README.md", f"---\n{header.to_yaml()}\n---\n\n{body}")
