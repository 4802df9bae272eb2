"""All generated files, written anew after a change of what is declared: `python -m scripts.generated`.

Tables of the documentation, the fields that commands take, and the entries of the translations.
Sentences that have no translation yet are printed.
"""

from __future__ import annotations

import json

from scripts import doc_tables, messages
from scripts.messages import ROOT
from storage.metadata import FIELDS

CLIENT_FIELDS = ROOT / "vlrb" / "client" / "fields.json"


def client_fields() -> str:
    """Return the fields of a submission with their meanings, which the library cannot import from the service."""
    return json.dumps({name: field.help for name, field in FIELDS.items()}, indent=1) + "\n"


def main() -> None:
    """Write every file."""
    CLIENT_FIELDS.write_text(client_fields(), encoding="utf-8")
    doc_tables.main()
    messages.update()


if __name__ == "__main__":
    main()
