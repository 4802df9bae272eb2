"""Documents made of the declarations: `python -m settings > docs/settings.md`, and the example of each role's
environment file, which has the settings of its role and no other."""

from __future__ import annotations

import sys

from settings.declared import keys_of
from settings.web import SPACE_NAMES, Settings
from settings.worker import WorkerSettings

_PAGE = """# Settings

The service reads every setting from the environment, once, when it starts. An empty value means unset.
A wrong value stops the start with a message that names the setting and the remedy.
This page is generated: `python -m settings > docs/settings.md`.

| setting | default | meaning |
|---|---|---|
{rows}

On a Hugging Face Space the service also reads {space}, which the Space sets itself.
"""


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

_ENV_FILE = """# Settings of a process with ROLE={role}. Copy this to {role}.env and fill that in (docs/settings.md).
# deploy/compose.yaml sets ROLE, DATABASE_URL, REPLICA_URL, TRUSTED_PROXIES and the store's keys itself; a
# value here for one of them is not read there. This file is generated: python -m scripts.generated.
# LABELS of a web process names the revisions alone; what else is in both files is the same.
{lines}
"""


def documentation() -> str:
    """`docs/settings.md`, from the declarations."""
    rows = []
    for key, info in dict(keys_of(Settings)).items():
        extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
        default = f"{info.default:g}" if isinstance(info.default, float) else str(info.default)
        default_text = extra.get("shown") or f"`{default}`"
        rows.append(f"| `{key.upper()}` | {default_text} | {info.description} |")
    return _PAGE.format(rows="\n".join(rows), space=", ".join(f"`{name}`" for name in SPACE_NAMES))


def env_file(role: str) -> str:
    """Return the example of a role's environment file. A line that is not filled in is a comment: unset."""
    names = [
        key.upper()
        for key, info in keys_of(Settings if role == "web" else WorkerSettings)
        if not (role == "web" and isinstance(info.json_schema_extra, dict) and info.json_schema_extra["workers_only"])
    ]
    filled = {"ROLE": role, **_FILLED[role]}
    lines = [f"{name}={filled[name]}" if name in filled else f"#{name}=" for name in names]
    return _ENV_FILE.format(role=role, lines="\n".join(lines))


if __name__ == "__main__":
    sys.stdout.write(documentation())
