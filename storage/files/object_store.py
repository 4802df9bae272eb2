"""Object stores by URL. `s3://bucket/path?endpoint=...&region=...` needs no further package; others are fsspec's."""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from common.messages import _


def open_store(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL, and the path in it.

    Raises:
        ValueError, ImportError: there is no such scheme, or its package is not installed.
    """
    parts = urlsplit(url)
    if parts.scheme == "s3":
        return _open_s3(parts), f"{parts.netloc}{parts.path}".rstrip("/")
    from fsspec.core import url_to_fs  # only where a URL is configured

    system, path = url_to_fs(url)
    return system, path


def s3_options(parts: SplitResult) -> dict[str, str]:
    """Return `endpoint` and `region` of an s3 URL, as far as it has them. Raises ValueError for other options."""
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if unknown := sorted(options.keys() - {"endpoint", "region"}):
        raise ValueError(_("an s3 address takes ?endpoint= and &region=, not {names}", names=", ".join(unknown)))
    return options


def _open_s3(parts: SplitResult) -> Any:
    """Keys come from where the AWS libraries look: AWS_ACCESS_KEY_ID and so on."""
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow.fs import (  # half a second, and only where such a URL is configured
        AwsStandardS3RetryStrategy,
        S3FileSystem,
    )

    options = s3_options(parts)
    named = {"endpoint_override": options["endpoint"]} if "endpoint" in options else {}
    # Without a region pyarrow asks Amazon which one the bucket has; another endpoint has none to tell.
    region = options.get("region") or ("us-east-1" if named else None)
    patience: dict[str, Any] = {"connect_timeout": 5, "retry_strategy": AwsStandardS3RetryStrategy(max_attempts=3)}
    return ArrowFSWrapper(S3FileSystem(region=region, **named, **patience))
