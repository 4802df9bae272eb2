"""All generated files, written anew after a change of what is declared: `python -m scripts.generated`.

Tables of the documentation, examples of environment files, the fields that commands take, and the entries of the
translations.
Sentences that have no translation yet are printed.
"""

from __future__ import annotations

import json
from typing import Any

from scripts import doc_tables, messages
from scripts.messages import ROOT
from settings import Settings, WorkerSettings
from settings.declared import keys_of
from storage.metadata import FIELDS

CLIENT_FIELDS = ROOT / "vlrb" / "client" / "fields.json"
ENV_HEAD = """# Settings of a process with ROLE={role} beside those that deploy/compose.yaml sets itself.
# Copy this to {role}.env and fill it in; docs/settings.md says what each means. Generated: python -m scripts.generated.
"""
BY_COMPOSE = {"ROLE", "DATABASE_URL", "REPLICA_URL", "TRUSTED_PROXIES"}
NEEDED = {
    "LABELS", "PUBLIC_URL", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "SESSION_SECRET", "RECEIPT_KEY", "OWNERS",
    "METRICS_TOKEN",
}  # fmt: skip


def env_example(role: str) -> str:
    """Return the example of a role's environment file: a line for each of its settings, a comment where it may be
    unset. A web process names label revisions, not their sources."""
    lines = [ENV_HEAD.format(role=role)]
    for key, info in keys_of(Settings if role == "web" else WorkerSettings):
        name = key.upper()
        extra: Any = info.json_schema_extra
        if name not in BY_COMPOSE and not (role == "web" and extra["workers_only"]):
            lines.append(f"{name}=\n" if name in NEEDED else f"#{name}=\n")
    labels = "v2" if role == "web" else "v2=/labels/labels_v2.jsonl"
    return "".join(lines).replace("\nLABELS=", f"\nLABELS={labels}")


def client_fields() -> str:
    """Return the fields of a submission with their meanings, which the library cannot import from the service."""
    return json.dumps({name: field.help for name, field in FIELDS.items()}, indent=1) + "\n"


def main() -> None:
    """Write every file."""
    for role in ("web", "worker"):
        (ROOT / "deploy" / f"{role}.env.example").write_text(env_example(role), encoding="utf-8")
    CLIENT_FIELDS.write_text(client_fields(), encoding="utf-8")
    doc_tables.main()
    messages.update()


if __name__ == "__main__":
    main()
