"""Images as they are sent: as stored, or re-encoded by a policy that the run records."""

from __future__ import annotations

import base64
import binascii
import contextlib
import io
import ipaddress
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes, urlsplit

from vlrb.common.messages import _
from vlrb.judge import JudgeError as JudgeError

if TYPE_CHECKING:
    from PIL import Image

STORED, OFFICIAL, PNG, JPEG = "stored", "official", "png", "jpeg"
FORMS = (STORED, OFFICIAL, PNG, JPEG)
LARGEST_IMAGE = 64 * 2**20  # octets
LARGEST_PICTURE = 64_000_000  # pixels, of images that are decoded here
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)


@dataclass(frozen=True, slots=True)
class ImageSource:
    """Where an image is: its bytes, a file, or an address. Exactly one is given."""

    data: bytes | None = None
    path: Path | None = None
    url: str | None = None
    stated_type: str | None = None  # of a data URI

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


@dataclass(frozen=True, slots=True)
class ImagePolicy:
    """What happens to an image before it is sent."""

    form: str = STORED
    quality: int = 95  # of JPEG
    max_pixels: int | None = None

    @property
    def changes_pixels(self) -> bool:
        """Whether images are decoded and encoded again."""
        return self.form in (PNG, JPEG) or self.max_pixels is not None


def image_url(source: ImageSource, policy: ImagePolicy) -> str:
    """Return what goes into `image_url`: an address as it is, anything else as a data URL."""
    if source.url is not None and not policy.changes_pixels:
        return source.url
    data = source.read()
    if policy.changes_pixels:
        data, kind = encode(data, policy)
    else:
        kind = "image/png" if policy.form == OFFICIAL else media_type(data, source)
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def encode(data: bytes, policy: ImagePolicy) -> tuple[bytes, str]:
    """Return an image re-encoded, with its type."""
    with open_image(data) as stored:
        form = "JPEG" if policy.form == JPEG or (policy.form == STORED and stored.format == "JPEG") else "PNG"
        image = stored.convert("RGB") if form == "JPEG" or stored.mode not in ("RGB", "RGBA", "L") else stored.copy()
    if policy.max_pixels and image.width * image.height > policy.max_pixels:
        scale = (policy.max_pixels / (image.width * image.height)) ** 0.5
        image = image.resize((max(1, int(image.width * scale)), max(1, int(image.height * scale))))
    out = io.BytesIO()
    image.save(out, form, **({"quality": policy.quality} if form == "JPEG" else {}))
    return out.getvalue(), f"image/{form.lower()}"


def open_image(data: bytes) -> Image.Image:
    """Return an image that is not decoded yet.

    Raises:
        JudgeError: it has too many pixels.
        OSError: it is no image.
    """
    from PIL import Image  # most runs send the stored bytes

    image = Image.open(io.BytesIO(data))
    if image.width * image.height > LARGEST_PICTURE:
        raise JudgeError("{width:,} x {height:,} pixels are too many", width=image.width, height=image.height)
    return image


def media_type(data: bytes, source: ImageSource) -> str:
    """Return the true type of an image: by its first bytes, else as the data URI or the file's name says.

    Raises:
        JudgeError: nothing says that this is an image.
    """
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    named = source.stated_type or (source.path and mimetypes.guess_type(source.path.name)[0]) or ""
    if named.startswith("image/"):
        return named
    raise JudgeError(
        "{source} is not an image (it starts with {start!r}).",
        source=source.path or _("An image of a pair"),
        start=data[:8],
    )


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
        return ImageSource(url=_checked_address(value))
    if folder is None:
        raise JudgeError("an image of a Hub dataset is in the dataset, or an address; it names no file of this machine")
    path = folder / value
    # links are followed: people make them, items do not
    if ".." in Path(value).parts or not path.is_relative_to(folder):
        raise JudgeError("the image {path} is not below the folder of the items; put it there, or link it", path=value)
    if not path.is_file():
        raise JudgeError("there is no image file {path}", path=path)
    return ImageSource(path=path)


def _checked_address(url: str) -> str:
    """Return an address that an endpoint may fetch. Raises JudgeError for link-local ones: there clouds tell keys."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    if not host or not url.isprintable():
        raise JudgeError("the image address {url!r} is not an address", url=url[:200])
    with contextlib.suppress(ValueError):  # a name
        address = ipaddress.ip_address(host.partition("%")[0])
        if address.is_link_local or getattr(getattr(address, "ipv4_mapped", None), "is_link_local", False):
            raise JudgeError("the image address {url} is link-local; no image lies there", url=url[:200])
    return url


def _from_data_uri(uri: str) -> ImageSource:
    head, comma, body = uri[5:].partition(",")
    if not comma:
        raise JudgeError("the data URI of the image has no comma")
    kind, *parameters = head.lower().split(";")
    try:
        data = (
            base64.b64decode("".join(body.split()), validate=True) if "base64" in parameters else unquote_to_bytes(body)
        )
    except (binascii.Error, ValueError):
        raise JudgeError("the data URI of the image is not base64") from None
    if not data:
        raise JudgeError("the data URI of the image is empty")
    _bounded(data)
    return ImageSource(data=data, stated_type=kind or None)
