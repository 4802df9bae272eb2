"""Images of a pool: found beside their file and nowhere else, checked within bounds, stored under their digest."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from PIL import Image, ImageStat

from vlrb.common import atomic_files
from vlrb.common.command_line import CommandError
from vlrb.judge.images import JudgeError, find_image, image_bytes, open_image

_SUFFIXES = {"PNG": "png", "JPEG": "jpg", "WEBP": "webp", "GIF": "gif", "BMP": "bmp", "TIFF": "tiff", "MPO": "jpg"}
_FLAT = 2.0  # standard deviation of grey values below which a perceptual hash means nothing


def read_image(value: Any, folder: Path | None) -> bytes:
    """Return the bytes of the image that a field names: bytes, or a path inside ``folder``.

    Raises:
        CommandError: there is no such image, it lies elsewhere, or it is too large.
    """
    source = find_image(value, folder)
    if isinstance(source, Path) and folder and not source.resolve().is_relative_to(folder.resolve()):
        raise CommandError(f"the image {value!r:.80} links to a file that is not below {folder}; copy it there")
    if source:
        return image_bytes(source)
    raise CommandError("`image` is missing: give a path beside the file, or bytes")


def inspect_image(data: bytes) -> dict[str, str]:
    """Return what a pair of a pool says of an image: where the pool keeps it, its SHA-256, and its perceptual hash: 16
    hex digits, nearly equal for similar images, and "" for flat ones.

    Raises:
        CommandError: it is no image, is damaged, or has too many pixels.
    """
    try:
        with open_image(data) as image:
            suffix = _SUFFIXES.get(image.format or "")
            if suffix is None:
                raise CommandError(f"the image is {image.format}; give PNG, JPEG, WebP, GIF, BMP or TIFF")
            perceptual = _perceptual_hash(image)
    except (JudgeError, Image.DecompressionBombError, OSError, ValueError, SyntaxError) as error:  # as decoders raise
        raise CommandError(f"the image cannot be read ({error}); store it anew") from None
    digest = hashlib.sha256(data).hexdigest()
    path = f"images/{digest[:2]}/{digest}.{suffix}"
    return {"image": path, "image_sha256": digest, "image_hash": perceptual}


def _perceptual_hash(image: Any) -> str:
    import imagehash  # takes a moment to import

    grey = image.convert("L")
    if ImageStat.Stat(grey).stddev[0] < _FLAT:
        return ""
    return str(imagehash.phash(grey))


def store_image(data: bytes, pool: Path) -> dict[str, str]:
    """Keep an image in a pool under its digest; the same bytes are kept once. Raises CommandError."""
    facts = inspect_image(data)
    if not (pool / facts["image"]).exists():
        atomic_files.write_once(pool / facts["image"], data, mode=atomic_files.PUBLIC)
    return facts
