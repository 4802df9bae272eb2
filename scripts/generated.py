"""All generated files, written anew after a change of what is declared: `python -m scripts.generated`.

The page of settings, examples of environment files, tables of the documentation, the fields that commands take,
verdicts on published figures, and the entries of the translations.
Sentences that have no translation yet are printed.
"""

from __future__ import annotations

import json

from scripts import doc_tables, messages
from scripts.messages import ROOT
from settings.__main__ import documentation
from settings.env_files import env_file
from storage.metadata import FIELDS
from vlrb.benchmarks.spec import DEFINITIONS
from vlrb.benchmarks.spec_file import load_spec
from vlrb.numbers.verdicts import STORED, key, verdict_on

CLIENT_FIELDS = ROOT / "vlrb" / "client" / "fields.json"


def client_fields() -> str:
    """Return the fields of a submission with their meanings, which the library cannot import from the service."""
    return json.dumps({name: field.help for name, field in FIELDS.items()}, indent=1) + "\n"


def verdicts() -> None:
    """Write what arithmetic says of the results that definitions ship, where their sizes are known; kept as long as
    the figures are the same, so delete the file after a change of the check."""
    for folder in sorted(path.parent for path in DEFINITIONS.glob("*/reported.json")):
        spec = load_spec(folder.name)
        rows = json.loads((folder / "reported.json").read_text(encoding="utf-8"))["results"] if spec.splits else []
        stored = {key(row, spec): verdict_on(row, spec).stored() for row in rows}
        if stored:
            lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(verdict)}" for name, verdict in stored.items())
            (folder / STORED).write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def main() -> None:
    """Write every file."""
    (ROOT / "docs" / "settings.md").write_text(documentation(), encoding="utf-8")
    for role in ("web", "worker"):
        (ROOT / "deploy" / f"{role}.env.example").write_text(env_file(role), encoding="utf-8")
    CLIENT_FIELDS.write_text(client_fields(), encoding="utf-8")
    verdicts()
    doc_tables.main()
    messages.update()
    messages.print_missing()


if __name__ == "__main__":
    main()
