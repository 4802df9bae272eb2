"""Images of a pool: found beside their file and nowhere else, checked within bounds, stored under their digest."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlrb.common import atomic_files
from vlrb.common.messages import _
from vlrb.editions.errors import CurateError

MOST_BYTES = 64 * 2**20
MOST_PIXELS = 64 * 10**6
_SUFFIXES = {"PNG": "png", "JPEG": "jpg", "WEBP": "webp", "GIF": "gif", "BMP": "bmp", "TIFF": "tiff", "MPO": "jpg"}
_FLAT = 2.0  # standard deviation of grey values below which a perceptual hash means nothing


@dataclass(frozen=True, slots=True)
class StoredImage:
    """``path``: relative to the pool. ``perceptual``: 16 hex digits, nearly equal for similar images; "" if flat."""

    path: str
    sha256: str
    perceptual: str


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What an image is, before it is stored."""

    sha256: str
    suffix: str
    perceptual: str


def read_image(value: Any, folder: Path | None) -> bytes:
    """Return the bytes of the image that a field names: bytes, a path inside ``folder``, or a data URI.

    Raises:
        CurateError: there is no such image, or it lies elsewhere.
    """
    if isinstance(value, Mapping):
        value = value["bytes"] if isinstance(value.get("bytes"), bytes) else value.get("path")
    if isinstance(value, bytes):
        return _bounded(value)
    if not isinstance(value, str) or not value:
        raise CurateError(_("`image` is missing: give a path beside the file, bytes or a data URI"))
    if value[:5].lower() == "data:":
        return _bounded(_from_data_uri(value))
    if "://" in value[:12]:
        raise CurateError(_("`image` is an address; download the images and name their files"))
    return _bounded(_inside(value, folder).read_bytes())


def _bounded(data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise CurateError(
            _(
                "the image has {size:,} bytes; at most {most:,} are read, reduce it",
                size=len(data),
                most=MOST_BYTES,
            )
        )
    return data


def _inside(name: str, folder: Path | None) -> Path:
    """Return the path of an image. A name may not lead out of the folder, links included."""
    if folder is None or "\x00" in name:
        raise CurateError(_("the image {path!r} is a path, and this source has no files", path=name[:80]))
    root = folder.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise CurateError(
            _(
                "the image {path!r} lies outside {folder}; name files below it (or see --images)",
                path=name[:80],
                folder=folder,
            )
        )
    if not path.is_file():
        raise CurateError(_("there is no image file {path!r} in {folder}", path=name[:80], folder=folder))
    if path.stat().st_size > MOST_BYTES:
        raise CurateError(
            _(
                "the image has {size:,} bytes; at most {most:,} are read, reduce it",
                size=path.stat().st_size,
                most=MOST_BYTES,
            )
        )
    return path


def _from_data_uri(uri: str) -> bytes:
    head, comma, body = uri[5:].partition(",")
    if not comma or not head.lower().endswith(";base64"):
        raise CurateError(_("the data URI of the image must be data:image/...;base64,..."))
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise CurateError(_("the data URI of the image is not base64")) from None


def inspect_image(data: bytes) -> ImageFacts:
    """Return what an image is.

    Raises:
        CurateError: it is no image, is damaged, or has too many pixels.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about size; the size is checked below
            with Image.open(io.BytesIO(data)) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise CurateError(
                        _(
                            "the image has {width:,} x {height:,} pixels; reduce it",
                            width=image.width,
                            height=image.height,
                        )
                    )
                suffix = _SUFFIXES.get(image.format or "")
                if suffix is None:
                    raise CurateError(
                        _("the image is {format}; give PNG, JPEG, WebP, GIF, BMP or TIFF", format=image.format)
                    )
                perceptual = _perceptual_hash(image)
    except Image.DecompressionBombError:
        raise CurateError(_("the image has far too many pixels; reduce it")) from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:  # what decoders raise
        raise CurateError(_("the image cannot be read ({kind}); store it anew", kind=type(error).__name__)) from None
    return ImageFacts(hashlib.sha256(data).hexdigest(), suffix, perceptual=perceptual)


def _perceptual_hash(image: Any) -> str:
    import imagehash
    from PIL import ImageStat

    grey = image.convert("L")
    if ImageStat.Stat(grey).stddev[0] < _FLAT:
        return ""
    return str(imagehash.phash(grey))


def store_image(data: bytes, pool: Path) -> StoredImage:
    """Keep an image in a pool under its digest; the same bytes are kept once. Raises CurateError."""
    facts = inspect_image(data)
    name = f"images/{facts.sha256[:2]}/{facts.sha256}.{facts.suffix}"
    if not (pool / name).exists():
        atomic_files.write_once(pool / name, data, mode=atomic_files.PUBLIC)
    return StoredImage(name, facts.sha256, perceptual=facts.perceptual)
