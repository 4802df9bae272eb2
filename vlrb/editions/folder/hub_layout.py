"""Folders that are ready for the Hub: parquet files by split, and a card with their features."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from vlrb.common import atomic_files
from vlrb.common.messages import _
from vlrb.editions.progress import follow

_ROWS = 64  # at a time: images are large
_TEXT = {"dtype": "string", "_type": "Value"}
_TEXTS = {"feature": _TEXT, "_type": "Sequence"}
QUESTION_FEATURES: Mapping[str, Any] = {
    "id": _TEXT, "query": _TEXT, "response": _TEXTS, "image": {"_type": "Image"}, "category": _TEXT, "source": _TEXT,
    "licence": _TEXT, "canary": _TEXT,
}  # fmt: skip
LABEL_FEATURES: Mapping[str, Any] = {
    "id": _TEXT, "query": _TEXT, "response_a": _TEXT, "response_b": _TEXT, "category": _TEXT, "preferred": _TEXT,
    "tags": _TEXTS, "split": _TEXT,
}  # fmt: skip


def write_split(
    folder: Path, name: str, *, rows: Iterable[Mapping[str, Any]], features: Mapping[str, Any], total: int
) -> Path:
    """Write one split as parquet; images are objects with ``bytes`` and ``path``. Returns the file."""
    from pyarrow import Table, parquet

    schema = _schema(features)
    path = folder / "data" / f"{name}-00000-of-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    steps = iter(follow(rows, _("Writing {name}", name=name), total=total))
    with parquet.ParquetWriter(path, schema) as writer:
        while part := list(islice(steps, _ROWS)):
            writer.write_table(Table.from_pylist(part, schema=schema))
    return path


def _schema(features: Mapping[str, Any]) -> Any:
    import pyarrow

    image = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    kinds = {"Value": pyarrow.string(), "Sequence": pyarrow.list_(pyarrow.string()), "Image": image}
    fields = [pyarrow.field(name, kinds[feature["_type"]]) for name, feature in features.items()]
    described = json.dumps({"info": {"features": features}})
    return pyarrow.schema(fields, metadata={"huggingface": described})


def write_card(folder: Path, splits: Sequence[str], *, body: str, title: str, licence: str) -> None:
    """Write README.md with the header that the Hub reads."""
    files = "".join(f"      - split: {name}\n        path: data/{name}-*.parquet\n" for name in splits)
    header = (
        f"---\npretty_name: {json.dumps(title, ensure_ascii=False)}\nlicense: other\n"
        f"license_name: {json.dumps(licence, ensure_ascii=False)}\nconfigs:\n  - config_name: default\n"
        f"    data_files:\n{files}---\n\n"
    )
    atomic_files.write(folder / "README.md", (header + body).encode(), mode=atomic_files.PUBLIC)
