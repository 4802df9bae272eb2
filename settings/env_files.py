"""Environment files of the processes of a topology: each has the settings of its role, and no other."""

from __future__ import annotations

from settings.declared import keys_of
from settings.web import Settings
from settings.worker import WorkerSettings

_FILLED = {
    "web": {
        "LABELS": "v2",
        "OIDC_CLIENT_ID": "",
        "OIDC_CLIENT_SECRET": "",
        "PUBLIC_URL": "",
        "SESSION_SECRET": "",
        "RECEIPT_KEY": "",
        "OWNERS": "",
        "METRICS_TOKEN": "",
    },
    "worker": {"LABELS": "v2=/labels/labels_v2.jsonl"},
}
"""What a topology cannot do without, for each role; the workers' label sources are none of a web process's."""

_PAGE = """# Settings of a process with ROLE={role}. Copy this file to {role}.env and fill that in (docs/settings.md).
# deploy/compose.yaml sets ROLE, DATABASE_URL, REPLICA_URL, TRUSTED_PROXIES and the store's keys itself; a
# value here for one of them is not read there. This file is generated: python -m scripts.generated.
# LABELS of a web process names the revisions alone; what else is in both files is the same.
{lines}
"""


def env_file(role: str) -> str:
    """Return the example of a role's environment file. A line that is not filled in is a comment: unset."""
    names = [
        key.upper()
        for key, info in keys_of(Settings if role == "web" else WorkerSettings)
        if not (role == "web" and isinstance(info.json_schema_extra, dict) and info.json_schema_extra["workers_only"])
    ]
    filled = {"ROLE": role, **_FILLED[role]}
    lines = [f"{name}={filled[name]}" if name in filled else f"#{name}=" for name in names]
    return _PAGE.format(role=role, lines="\n".join(lines))
