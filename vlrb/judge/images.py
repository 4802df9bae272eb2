"""Images of pairs, as they are stored and as they are sent."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlrb.judge import JudgeError as JudgeError

if TYPE_CHECKING:
    from PIL import Image

STORED, OFFICIAL = FORMS = ("stored", "official")
LARGEST_IMAGE = 64 * 2**20  # octets
LARGEST_PICTURE = 64_000_000  # pixels


@dataclass(frozen=True, slots=True)
class ImageSource:
    """Where an image is: its bytes, a file, or an address. Exactly one is given."""

    data: bytes | None = None
    path: Path | None = None
    url: str | None = None

    def read(self) -> bytes:
        """Return the stored bytes. Raises JudgeError for an address: the endpoint alone fetches those."""
        if self.data is not None:
            return _bounded(self.data)
        if self.path is not None:
            with self.path.open("rb") as file:
                return _bounded(file.read(LARGEST_IMAGE + 1))
        raise JudgeError("the image is an address, {url}; save it to a file to send its pixels", url=self.url)


def _bounded(data: bytes) -> bytes:
    if len(data) > LARGEST_IMAGE:
        raise JudgeError("an image has more than {size} MiB", size=LARGEST_IMAGE // 2**20)
    return data


def image_url(source: ImageSource, form: str = STORED) -> str:
    """Return what goes into `image_url`: an address as it is, anything else as a data URL. `form`: STORED with its true
    type, or OFFICIAL, which is always labelled PNG.

    Raises:
        JudgeError: it is no image, or has too many pixels.
    """
    if source.url is not None:
        return source.url
    from PIL import Image  # takes a moment to import

    data = source.read()
    try:
        with open_image(data) as image:
            kind = "image/png" if form == OFFICIAL else Image.MIME[str(image.format)]
    except OSError:
        raise JudgeError("{source} is not an image", source=source.path or "what the item holds") from None
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def open_image(data: bytes) -> Image.Image:
    """Return an image that is not decoded yet.

    Raises:
        JudgeError: it has too many pixels.
        OSError: it is no image.
    """
    from PIL import Image  # takes a moment to import

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
        if isinstance(value.get("bytes"), bytes):
            return ImageSource(data=value["bytes"])
        value = value.get("path")
    if isinstance(value, bytes):
        return ImageSource(data=value)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise JudgeError("an image is a path, an address or a data URI, not {kind}", kind=type(value).__name__)
    if value[:5].lower() == "data:":
        return _from_data_uri(value)
    if value.lower().startswith(("http://", "https://")):
        return ImageSource(url=value)
    if folder is None:
        raise JudgeError("an image of a Hub dataset is in the dataset, or an address; it names no file of this machine")
    path = folder / value
    # links are followed: people make them, items do not
    if ".." in Path(value).parts or not path.is_relative_to(folder):
        raise JudgeError("the image {path} is not below the folder of the items; put it there, or link it", path=value)
    if not path.is_file():
        raise JudgeError("there is no image file {path}", path=path)
    return ImageSource(path=path)


def _from_data_uri(uri: str) -> ImageSource:
    head, _comma, body = uri[5:].partition(",")
    try:
        data = base64.b64decode("".join(body.split()), validate=True) if head.lower().endswith(";base64") else b""
    except ValueError:
        data = b""
    if not data:
        raise JudgeError("the data URI of the image is not base64")
    return ImageSource(data=_bounded(data))
