"""Environment files of the processes of a topology: each has the settings of its role, and no other."""

from __future__ import annotations

from settings.declared import keys_of
from settings.web import SPACE_NAMES, Settings
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

_PAGE = """# Settings of a {title}. Copy this file to {role}.env beside it, and fill that in (docs/settings.md).
# deploy/compose.yaml sets ROLE, DATABASE_URL, REPLICA_URL, TRUSTED_PROXIES and the store's keys itself; a
# value here for one of them is not read there. This file is generated: python -m scripts.generated.

# The same in web.env and worker.env; LABELS of a web process names the revisions alone
{shared}

# Of a {title} alone
{own}
"""


def names_of_role(role: str) -> tuple[str, ...]:
    """Return the settings of a process with ROLE=web or ROLE=worker."""
    settings = Settings if role == "web" else WorkerSettings
    return tuple(
        key.upper()
        for key, info in keys_of(settings)
        if key.upper() not in SPACE_NAMES
        and not (role == "web" and isinstance(info.json_schema_extra, dict) and info.json_schema_extra["workers_only"])
    )


def env_file(role: str) -> str:
    """Return the example of a role's environment file. A line that is not filled in is a comment: unset."""
    other = names_of_role("worker" if role == "web" else "web")
    lines = {name: _line(role, name) for name in names_of_role(role) if name != "ROLE"}
    shared = [line for name, line in lines.items() if name in other]
    own = [line for name, line in lines.items() if name not in other]
    title = "web process" if role == "web" else role
    return _PAGE.format(role=role, title=title, shared="\n".join(shared), own="\n".join([f"ROLE={role}", *own]))


def _line(role: str, name: str) -> str:
    value = _FILLED[role].get(name)
    return f"#{name}=" if value is None else f"{name}={value}"
