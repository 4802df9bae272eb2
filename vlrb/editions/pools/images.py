"""Images of a pool: found beside their file and nowhere else, checked within bounds, stored under their digest."""

from __future__ import annotations

import base64
import hashlib
import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlrb.common import atomic_files
from vlrb.editions.errors import CurateError

MOST_BYTES = 64 * 2**20
MOST_PIXELS = 64 * 10**6
_SUFFIXES = {"PNG": "png", "JPEG": "jpg", "WEBP": "webp", "GIF": "gif", "BMP": "bmp", "TIFF": "tiff", "MPO": "jpg"}
_FLAT = 2.0  # standard deviation of grey values below which a perceptual hash means nothing


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """``path``: where a pool stores it. ``perceptual``: 16 hex digits, nearly equal for similar images; "" if flat."""

    path: str
    sha256: str
    perceptual: str


def read_image(value: Any, folder: Path | None) -> bytes:
    """Return the bytes of the image that a field names: bytes, a path inside ``folder``, or a data URI.

    Raises:
        CurateError: there is no such image, it lies elsewhere, or it is too large.
    """
    if isinstance(value, Mapping):
        value = value["bytes"] if isinstance(value.get("bytes"), bytes) else value.get("path")
    if isinstance(value, str) and value[:5].lower() == "data:":
        value = _from_data_uri(value)
    if isinstance(value, str) and value:
        value = _inside(value, folder)
    if not isinstance(value, bytes | Path):
        raise CurateError("`image` is missing: give a path beside the file, bytes or a data URI")
    size = value.stat().st_size if isinstance(value, Path) else len(value)
    if size > MOST_BYTES:
        raise CurateError(f"the image has {size:,} bytes; at most {MOST_BYTES:,} are read, reduce it")
    return value.read_bytes() if isinstance(value, Path) else value


def _inside(name: str, folder: Path | None) -> Path:
    """Return the path of an image. A name may not lead out of the folder, links included."""
    if "://" in name[:12]:
        raise CurateError("`image` is an address; download the images and name their files")
    if folder is None:
        raise CurateError(f"the image {name[:80]!r} is a path, and this source has no files")
    root = folder.resolve()
    path = (root / name.replace("\x00", "")).resolve()
    if not path.is_relative_to(root):
        raise CurateError(f"the image {name[:80]!r} lies outside {folder}; name files below it (or see --images)")
    if not path.is_file():
        raise CurateError(f"there is no image file {name[:80]!r} in {folder}")
    return path


def _from_data_uri(uri: str) -> bytes:
    head, comma, body = uri[5:].partition(",")
    if not comma or not head.lower().endswith(";base64"):
        raise CurateError("the data URI of the image must be data:image/...;base64,...")
    try:
        return base64.b64decode(body, validate=True)
    except ValueError:
        raise CurateError("the data URI of the image is not base64") from None


def inspect_image(data: bytes) -> ImageFacts:
    """Return what an image is.

    Raises:
        CurateError: it is no image, is damaged, or has too many pixels.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings(), Image.open(io.BytesIO(data)) as image:
            warnings.simplefilter("ignore")  # a warning about size; the size is checked here
            if image.width * image.height > MOST_PIXELS:
                raise CurateError(f"the image has {image.width:,} x {image.height:,} pixels; reduce it")
            suffix = _SUFFIXES.get(image.format or "")
            if suffix is None:
                raise CurateError(f"the image is {image.format}; give PNG, JPEG, WebP, GIF, BMP or TIFF")
            perceptual = _perceptual_hash(image)
    except Image.DecompressionBombError:
        raise CurateError("the image has far too many pixels; reduce it") from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:  # what decoders raise
        raise CurateError(f"the image cannot be read ({type(error).__name__}); store it anew") from None
    digest = hashlib.sha256(data).hexdigest()
    return ImageFacts(f"images/{digest[:2]}/{digest}.{suffix}", digest, perceptual=perceptual)


def _perceptual_hash(image: Any) -> str:
    import imagehash
    from PIL import ImageStat

    grey = image.convert("L")
    if ImageStat.Stat(grey).stddev[0] < _FLAT:
        return ""
    return str(imagehash.phash(grey))


def store_image(data: bytes, pool: Path) -> ImageFacts:
    """Keep an image in a pool under its digest; the same bytes are kept once. Raises CurateError."""
    facts = inspect_image(data)
    if not (pool / facts.path).exists():
        atomic_files.write_once(pool / facts.path, data, mode=atomic_files.PUBLIC)
    return facts
