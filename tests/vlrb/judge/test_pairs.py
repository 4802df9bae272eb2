"""Pairs are read from what people have, without their labels."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import pyarrow
import pytest
from PIL import Image
from pyarrow import parquet

from tests.vlrb.judge.running import PNG, item, write_items
from vlrb.judge import JudgeError
from vlrb.judge.images import LARGEST_IMAGE, OFFICIAL, find_image, image_bytes, image_url
from vlrb.judge.pairs import BOTH, PARITY, RANDOM, is_swapped, read_pairs


def jpeg_of(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG")
    return out.getvalue()


JPEG = jpeg_of(Image.new("L", (1, 1)))
INLINE = "data:image/png;base64," + base64.b64encode(PNG).decode()


def test_an_image_is_sent_with_its_true_type_and_wins_over_image_path(tmp_path: Path) -> None:
    (tmp_path / "photo.dat").write_bytes(JPEG)
    images = ["image.png", "photo.dat"]
    path = write_items(tmp_path, [item(i, image=image, image_path="missing.png") for i, image in enumerate(images)])
    sent = [image_url(pair.image) for pair in read_pairs(str(path)).pairs]
    assert sent == [INLINE, "data:image/jpeg;base64," + base64.b64encode(JPEG).decode()]


def test_image_path_serves_where_there_is_no_image(tmp_path: Path) -> None:
    path = write_items(tmp_path, [item(0, image=None, image_path="image.png")])
    assert read_pairs(str(path)).pairs[0].image == tmp_path / "image.png"


def test_the_official_policy_labels_every_image_as_png(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(JPEG)
    pair = read_pairs(str(write_items(tmp_path, [item(0, image="photo.jpg")]))).pairs[0]
    assert image_url(pair.image, OFFICIAL).startswith("data:image/png;base64,/9j/")


def test_parquet_with_the_columns_of_the_dataset(tmp_path: Path) -> None:
    rows = [{**item(i), "image": {"bytes": PNG, "path": "x.png"}} for i in range(3)]
    path = tmp_path / "test.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    pairs = read_pairs(str(path)).pairs
    assert [pair.id for pair in pairs] == ["RLAIF-V-0", "RLAIF-V-1", "RLAIF-V-2"]
    assert image_url(pairs[0].image) == INLINE


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"response": ["one"]}, "two texts"),
        ({"image": "gone.png"}, r"no image file .*gone\.png"),
        ({"image": None}, "`image` is missing"),
        ({"query": 3}, "`query`"),
        ({"image": "../image.png"}, "not below the folder"),
        ({"image": "/etc/hostname"}, "not below the folder"),
        ({"image": "file:///etc/hostname"}, "no image file"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path: Path, change: dict[str, object], words: str) -> None:
    path = write_items(tmp_path, [item(0), item(1, **change)])
    with pytest.raises(JudgeError, match=f"row 2: .*{words}"):
        read_pairs(str(path))


def test_a_text_file_is_never_sent_as_an_image(tmp_path: Path) -> None:
    (tmp_path / "passwords").write_text("root:x:0:0")
    pair = read_pairs(str(write_items(tmp_path, [item(0, image="passwords")]))).pairs[0]
    with pytest.raises(JudgeError, match="is not an image"):
        image_url(pair.image)


def test_a_picture_of_too_many_pixels_is_not_decoded() -> None:
    out = io.BytesIO()
    Image.new("1", (8_100, 8_000)).save(out, "PNG")
    with pytest.raises(JudgeError, match="pixels are too many"):
        image_url(out.getvalue())


def test_a_hub_dataset_names_no_file_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "own.png").write_bytes(PNG)
    with pytest.raises(JudgeError, match="names no file of this machine"):
        find_image(str(tmp_path / "own.png"), None)


def test_an_image_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large.png").open("wb") as file:
        file.truncate(LARGEST_IMAGE + 1)
    with pytest.raises(JudgeError, match="more than 64 MiB"):
        image_bytes(tmp_path / "large.png")


def test_a_hub_dataset_needs_its_commit() -> None:
    with pytest.raises(JudgeError, match="owner/name@commit"):
        read_pairs("owner/name")


def test_orders(tmp_path: Path) -> None:
    items = [item(i, response=["x" * (i % 3), "yy"]) for i in range(200)]
    pairs = read_pairs(str(write_items(tmp_path, items))).pairs
    at = {
        order: [[is_swapped(pair, vote, order=order, seed=1) for vote in range(4)] for pair in pairs]
        for order in (RANDOM, BOTH, PARITY)
    }
    assert at[PARITY] == [[(i % 3) % 2 == 1] * 4 for i in range(200)]
    assert all(sum(votes) == 2 for votes in at[BOTH])
    assert 350 < sum(map(sum, at[RANDOM])) < 450
    again = [[is_swapped(pair, vote, order=RANDOM, seed=2) for vote in range(4)] for pair in pairs]
    assert again != at[RANDOM]


def test_lines_of_other_shapes_are_refused(tmp_path: Path) -> None:
    path = write_items(tmp_path, [item(0)])
    for line in ("[" * 100_000, "{", '{"id": "half \\ud800"}'):
        path.write_text(json.dumps(item(0)) + f"\n{line}\n")
        with pytest.raises(JudgeError, match="row 2"):
            read_pairs(str(path))
