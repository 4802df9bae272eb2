"""Object stores by URL. `s3://bucket/path?endpoint=...&region=...` needs no further package; others are fsspec's."""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from vlrb.common.messages import _

_TRANSPORT = re.compile(r"curlCode: \d+, ([A-Za-z ']{1,80})")  # such as: Could not connect to server
_REFUSAL = re.compile(r"AWS Error ([A-Z_]{1,60})")  # such as: ACCESS_DENIED


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


def public_address(url: str) -> str:
    """Return an address as a message may name it: with the endpoint, without user, password and other options."""
    if "://" not in url:
        return url
    parts = urlsplit(url)
    endpoint = parse_qs(parts.query).get("endpoint", [""])[-1]
    name = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return f"{name} at {public_address(endpoint)}" if endpoint else name


def address_below(url: str, name: str) -> str:
    """Return the address of something in a directory or at a URL, whose options stay."""
    head, sign, query = url.partition("?") if "://" in url else (url, "", "")
    return f"{head.rstrip('/')}/{name}{sign}{query}"


def failure_reason(error: Exception) -> str:
    """Return why a store could not be used. The library's own words may hold the address, and that a secret."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    known = _TRANSPORT.search(str(error)) or _REFUSAL.search(str(error))
    return known[1].strip() if known else type(error).__name__


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
