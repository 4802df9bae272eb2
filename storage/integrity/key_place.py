"""Places where the private key of receipts may be."""

from __future__ import annotations

from enum import StrEnum


class KeyPlace(StrEnum):
    """Given in the settings, encrypted in the replica, or on the disk of the web process alone."""

    SETTINGS = "settings"
    REPLICA = "replica"
    DISK = "disk"
