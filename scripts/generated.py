"""All generated files, written anew after a change of what is declared: `python -m scripts.generated`.

The page of settings, examples of environment files, tables of the documentation, the fields that commands take, and the
entries of the translations.
Sentences that have no translation yet are printed.
"""

from __future__ import annotations

import json

from scripts import doc_tables, messages
from scripts.messages import ROOT
from settings.__main__ import documentation, env_file
from storage.metadata import FIELDS

CLIENT_FIELDS = ROOT / "vlrb" / "client" / "fields.json"


def client_fields() -> str:
    """Return the fields of a submission with their meanings, which the library cannot import from the service."""
    return json.dumps({name: field.help for name, field in FIELDS.items()}, indent=1) + "\n"


def main() -> None:
    """Write every file."""
    (ROOT / "docs" / "settings.md").write_text(documentation(), encoding="utf-8")
    for role in ("web", "worker"):
        (ROOT / "deploy" / f"{role}.env.example").write_text(env_file(role), encoding="utf-8")
    CLIENT_FIELDS.write_text(client_fields(), encoding="utf-8")
    doc_tables.main()
    messages.update()
    messages.print_missing()


if __name__ == "__main__":
    main()
