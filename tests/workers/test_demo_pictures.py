"""Pictures of the demo show what its pairs are about."""

import io
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from PIL import Image

from vlrb.demo import Exercise, Scene, demo_pairs
from workers.demo_pictures import HEIGHT, WIDTH, draw_picture

SCENE = Scene(
    "a bakery",
    ((3, "blue", "crate"), (2, "green", "ladder"), (1, "black", "kettle"), (4, "brown", "drum")),
    relation="behind",
    sign="EXIT",
)
pairs = cache(demo_pairs)


def test_a_picture_of_every_kind_is_a_png_of_one_size_and_the_same_each_time() -> None:
    kinds = {_kind(pair["picture"]): pair["picture"] for pair in pairs()}
    assert len(kinds) == 8 + 4  # relations of scenes, figures of problems
    for picture in kinds.values():
        drawn = draw_picture(picture)
        assert drawn == draw_picture(picture)
        image = Image.open(io.BytesIO(drawn))
        assert (image.format, image.size) == ("PNG", (WIDTH, HEIGHT))


@pytest.mark.parametrize("number", range(1, 10))
def test_as_many_things_are_drawn_as_there_are_in_their_colour(number: int) -> None:
    scene = replace(SCENE, things=((number, "purple", "crate"), *SCENE.things[1:]))
    assert len(list(_patches(_pixels(scene), (128, 70, 168)))) == number
    assert not list(_patches(_pixels(SCENE), (128, 70, 168)))


@pytest.mark.parametrize(
    "change",
    [
        {"place": "a school gym"},
        {"sign": "NO ENTRY"},
        {"relation": "above"},
        {"things": ((4, "blue", "crate"), *SCENE.things[1:])},
        {"things": ((3, "red", "crate"), *SCENE.things[1:])},
        {"things": ((3, "blue", "bench"), *SCENE.things[1:])},
    ],
    ids=["place", "sign", "relation", "number", "colour", "thing"],
)
def test_each_fact_of_a_scene_shows(change: dict[str, object]) -> None:
    assert draw_picture(replace(SCENE, **change)) != draw_picture(SCENE)  # type: ignore[arg-type]


def test_nothing_is_cut_at_an_edge() -> None:
    for pair in pairs()[::25]:
        image = Image.open(io.BytesIO(draw_picture(pair["picture"]))).convert("RGB")
        for x in (0, WIDTH - 1):
            assert len({image.getpixel((x, y)) for y in range(HEIGHT)}) <= 2  # above and below the horizon
        for y in (0, HEIGHT - 1):
            assert len({image.getpixel((x, y)) for x in range(WIDTH)}) == 1


def _kind(picture: Scene | Exercise) -> str:
    return picture.relation if isinstance(picture, Scene) else picture.kind


def _pixels(scene: Scene) -> Image.Image:
    return Image.open(io.BytesIO(draw_picture(scene))).convert("RGB")


def _patches(image: Image.Image, colour: tuple[int, int, int]) -> Iterator[set[tuple[int, int]]]:
    """Yield the connected areas of about this colour, those of a few pixels left out."""
    near = (np.abs(np.asarray(image).astype(int) - colour) < 24).all(axis=2)
    left = {(x, y) for y, x in np.argwhere(near).tolist()}
    while left:
        patch, edge = set(), {left.pop()}
        while edge:
            x, y = spot = edge.pop()
            patch.add(spot)
            beside = {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)} & left
            left -= beside
            edge |= beside
        if len(patch) > 20:
            yield patch
