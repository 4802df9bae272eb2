"""Images of pairs, as they are stored and as they are sent."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from vlrb.judge import JudgeError as JudgeError

STORED, OFFICIAL = FORMS = ("stored", "official")
LARGEST_IMAGE = 64 * 2**20  # octets
LARGEST_PICTURE = 64_000_000  # pixels


ImageSource = bytes | Path
"""Where an image is: its bytes, or a file."""


def image_bytes(source: ImageSource) -> bytes:
    """Return the stored bytes. Raises JudgeError where they are too many."""
    if isinstance(source, Path):
        with source.open("rb") as file:
            source = file.read(LARGEST_IMAGE + 1)
    data: bytes = source
    if len(data) > LARGEST_IMAGE:
        raise JudgeError("an image has more than {size} MiB", size=LARGEST_IMAGE // 2**20)
    return data


def image_url(source: ImageSource, form: str = STORED) -> str:
    """Return the data URL that goes into `image_url`. `form`: STORED with its true type, or OFFICIAL, which is always
    labelled PNG.

    Raises:
        JudgeError: it is no image, or has too many pixels.
    """
    data = image_bytes(source)
    try:
        with open_image(data) as image:
            kind = "image/png" if form == OFFICIAL else Image.MIME[str(image.format)]
    except OSError:
        name = source if isinstance(source, Path) else "what the item holds"
        raise JudgeError("{source} is not an image", source=name) from None
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def open_image(data: bytes) -> Image.Image:
    """Return an image that is not decoded yet.

    Raises:
        JudgeError: it has too many pixels.
        OSError: it is no image.
    """
    image = Image.open(io.BytesIO(data))
    if image.width * image.height > LARGEST_PICTURE:
        raise JudgeError("{width:,} x {height:,} pixels are too many", width=image.width, height=image.height)
    return image


def find_image(value: Any, folder: Path | None) -> ImageSource | None:
    """Return the image that a field of an item names; None for an empty field.

    Raises:
        JudgeError: the field names none that can be read.
    """
    if isinstance(value, Mapping):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, bytes) or value is None or value == "":
        return value or None
    if not isinstance(value, str):
        raise JudgeError("an image is a path or bytes, not {kind}", kind=type(value).__name__)
    if folder is None:
        raise JudgeError("an image of a Hub dataset is in the dataset; it names no file of this machine")
    path = folder / value
    # links are followed: people make them, items do not
    if ".." in Path(value).parts or not path.is_relative_to(folder):
        raise JudgeError("the image {path} is not below the folder of the items; put it there, or link it", path=value)
    if not path.is_file():
        raise JudgeError("there is no image file {path}", path=path)
    return path
