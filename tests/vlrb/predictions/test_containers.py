"""Files in the shapes that people have give the votes of the same file in native JSON lines."""

import io
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pandas
import pytest

from tests.factories import prediction_files as files
from tests.factories.labels import pairs, table
from tests.vlrb.predictions.test_hostile import zipped
from vlrb.predictions.parse import UploadRejected, parse_predictions
from vlrb.readers import containers

PAIRS = pairs(4)
IDS = [pair["id"] for pair in PAIRS]
VOTES = [number % 3 % 2 for number in range(len(PAIRS))]
NATIVE = files.jsonl([{"id": name, "votes": [vote]} for name, vote in zip(IDS, VOTES, strict=True)])
BOTH = list(zip(IDS, VOTES, strict=True))


def lines(separator: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """Return a table as text."""
    return "".join(separator.join(map(str, row)) + "\n" for row in (header, *rows)).encode()


def parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return a parquet file as pandas writes it."""
    out = io.BytesIO()
    pandas.DataFrame(columns).to_parquet(out)
    return out.getvalue()


def scores(vote: int, sign: str = ".") -> list[str]:
    """Return two scores as texts."""
    return [f"0{sign}{5 - vote}", f"0{sign}4{1 + vote}"] if vote else [f"0{sign}5", f"0{sign}25"]


SHAPES = {
    "UTF-16": NATIVE.decode().encode("utf-16"),
    "UTF-32": NATIVE.decode().encode("utf-32"),
    "text as Excel saves it": lines("\t", ("id", "vote"), BOTH).decode().encode("utf-16"),
    "zip": zipped({"run/predictions.jsonl": NATIVE}),
    "zip of a Mac": zipped({"run/": b"", "run/p.jsonl": NATIVE, "__MACOSX/run/._p.jsonl": b"x", "run/.DS_Store": b"x"}),
    "parquet": parquet({"id": IDS, "votes": [[vote] for vote in VOTES], "image": [b"\x89PNG"] * len(IDS)}),
    "parquet with a vote": parquet({"ID": IDS, "vote": VOTES, "image": [{"bytes": b"\x89PNG"}] * len(IDS)}),
    "second sheet": files.workbook(
        [{"Notes": "run of Tuesday"}], [{"id": name, "vote": str(vote)} for name, vote in BOTH]
    ),
    "semicolons and capitals": lines(";", ("ID", "Vote"), BOTH),
    "truth values": lines(",", ("id", "vote"), [(name, bool(vote)) for name, vote in BOTH]),
    "scores with a decimal comma": lines(";", ("id", "Score_0", "Score_1"), [(n, *scores(v, ",")) for n, v in BOTH]),
    "scores as texts": files.jsonl([{"id": name, "scores": [scores(vote)]} for name, vote in BOTH]),
    "capital keys": files.jsonl([{"ID": name, "Votes": [vote]} for name, vote in BOTH]),
    "capital keys in a list": json.dumps([{"Id": name, "Vote": vote} for name, vote in BOTH]).encode(),
    "votes as pandas writes them": files.jsonl([{"id": name, "votes": [float(vote)]} for name, vote in BOTH]),
    "padded ids": files.jsonl([{"id": f" {name}\u00a0", "votes": [vote]} for name, vote in BOTH]),
    "rows of the Hub viewer": json.dumps(
        {"features": [], "rows": [{"row_idx": n, "row": {"id": i, "votes": [v]}} for n, (i, v) in enumerate(BOTH)]}
    ).encode(),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_that_people_have_gives_the_votes_of_native_lines(shape: str) -> None:
    read = parse_predictions(SHAPES[shape], table(4))
    assert read.votes.matrix[:, 0].tolist() == VOTES


def test_a_parquet_file_is_refused_with_the_name_of_the_extra_where_arrow_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UploadRejected, match=r"vlrb\[parquet\]"):
        parse_predictions(SHAPES["parquet"], table(4))


@pytest.mark.parametrize("pack", [bytes, lambda data: zipped({"a": data})], ids=["plain", "zip"])
def test_what_is_larger_than_files_may_be_is_refused_whether_packed_or_not(
    pack: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(containers, "FILE_LIMIT", len(NATIVE))
    parse_predictions(pack(NATIVE), table(4))
    monkeypatch.setattr(containers, "FILE_LIMIT", len(NATIVE) - 1)
    with pytest.raises(UploadRejected) as caught:
        parse_predictions(pack(NATIVE), table(4))
    assert caught.value.problem_count == 1
