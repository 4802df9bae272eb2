"""All generated files, written anew after a change of what is declared: `python -m scripts.generated`.

The page of settings, examples of environment files, tables of the documentation, and the entries of the
translations.
Sentences that have no translation yet are printed.
"""

from __future__ import annotations

from scripts import doc_tables, messages
from scripts.messages import ROOT
from settings.__main__ import documentation
from settings.env_files import env_file


def main() -> None:
    """Write every file."""
    (ROOT / "docs" / "settings.md").write_text(documentation(), encoding="utf-8")
    for role in ("web", "worker"):
        (ROOT / "deploy" / f"{role}.env.example").write_text(env_file(role), encoding="utf-8")
    doc_tables.main()
    messages.update()
    messages.print_missing()


if __name__ == "__main__":
    main()
