"""Imports take what is a pair and nothing else; hostile files are refused with line, field and remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from tests.factories.suite.programs import edition_main as main
from tests.vlrb.editions.synthetic import picture
from vlrb.editions.pool import read_pool


def row(number: int, **more: Any) -> dict[str, Any]:
    """A pair that can be imported."""
    both = [f"It is {number}.", f"It is certainly not {number}."]
    return {
        "id": f"p{number}",
        "query": f"What is {number}?",
        "response": both,
        "preferred": 0,
        "image": "a.png",
    } | more


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.png").write_bytes(picture(1))
    return tmp_path / "data"


def write(folder: Path, *rows: Any) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in rows))
    return path


def take(path: Path, *more: str) -> int:
    pool = path.parent.parent / "pool"
    return main(["pool", "import", str(path), "--source", "S", "--licence", "CC0-1.0", "--into", str(pool), *more])


def test_a_pair_keeps_its_preference_whatever_the_order(folder: Path) -> None:
    rows = [row(number, response=[f"Good {number}.", f"Bad {number}."]) for number in range(20)]
    assert take(write(folder, *rows)) == 0
    pairs = read_pool(folder.parent / "pool")
    assert all(pair["response"][pair["preferred"]].startswith("Good") for pair in pairs)
    assert {pair["preferred"] for pair in pairs} == {0, 1}, "the stored order would tell the preference"


@pytest.mark.parametrize(
    ("fields", "better"),
    [
        ({"preferred": 1}, 1),
        ({"preferred": None, "human_ranking": [1, 0]}, 1),
        ({"preferred": None, "human_ranking": [0, 1]}, 0),
        ({"response": None, "chosen": "Yes.", "rejected": "No."}, None),
    ],
)
def test_preferences_are_read_in_the_forms_that_data_sets_have(folder: Path, fields: Any, better: int | None) -> None:
    assert take(write(folder, row(1, **fields))) == 0
    (pair,) = read_pool(folder.parent / "pool")
    expected = "Yes." if better is None else row(1)["response"][better]
    assert pair["response"][pair["preferred"]] == expected


def test_parquet_and_columns_of_other_names(folder: Path) -> None:
    data = {"bytes": picture(2), "path": None}
    rows = [{"idx": 5, "question": "Q?", "good": "Yes.", "bad": "No.", "image": data}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "pairs.parquet")
    assert take(folder / "pairs.parquet", "--field", "chosen=good", "--field", "rejected=bad") == 0
    (pair,) = read_pool(folder.parent / "pool")
    assert (pair["id"], pair["query"], pair["response"][pair["preferred"]]) == ("S-5", "Q?", "Yes.")


def test_the_same_file_again_changes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(folder, row(1))
    assert take(path) == take(path) == 0
    assert "0 new pairs" in capsys.readouterr().out
    assert len(read_pool(folder.parent / "pool")) == 1


def test_the_pool_can_be_judged_as_it_is(folder: Path) -> None:
    from vlrb.judge.images import image_bytes
    from vlrb.judge.pairs import read_pairs

    assert take(write(folder, row(1), row(2))) == 0
    file = read_pairs(str(folder.parent / "pool" / "pairs.jsonl"))
    assert [image_bytes(pair.image) for pair in file.pairs] == [picture(1)] * 2
    assert not hasattr(file.pairs[0], "preferred")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (row(1, query=None), "--field query=COLUMN"),
        (row(1, response=["one"]), "list of two texts"),
        (row(1, response=["same", "same "]), "same text"),
        (row(1, preferred=2), "0 or 1"),
        (row(1, preferred=True), "0 or 1"),
        (row(1, query="x" * 70_000), "cut it"),
        (row(1, image=None), "`image` is missing"),
        (row(1, image="link.png"), "below"),
        (row(1, image="pairs.jsonl"), "cannot be read"),
        (row(1, category="../x"), "letters, digits"),
        (row(1, id="a\nb"), "`id`"),
    ],
)
def test_bad_rows_are_refused_with_place_and_remedy(
    folder: Path, line: Any, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.parent / "secret.png").write_bytes(picture(3))
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    path = write(folder, row(0), line)
    assert take(path) == 2
    error = capsys.readouterr().err
    assert "row 2" in error
    assert said in error
    assert not (folder.parent / "pool" / "pairs.jsonl").exists(), "all or nothing"


@pytest.mark.parametrize(("line", "said"), [("{broken", "row 2 is not JSON"), ("[1, 2]", "neither JSON lines nor")])
def test_a_file_that_is_no_rows_is_refused(
    folder: Path, line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert take(write(folder, row(0), line)) == 2
    assert said in capsys.readouterr().err


def test_ids_occur_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert take(write(folder, row(1), row(1, query="Another?"))) == 2
    assert "is on row 1" in capsys.readouterr().err
