"""Print `docs/settings.md`, made of the declarations: `python -m settings > docs/settings.md`."""

from __future__ import annotations

import sys

from settings.declared import keys_of
from settings.web import SPACE_NAMES, Settings

_PAGE = """# Settings

The service reads every setting from the environment, once, when it starts. An empty value means unset.
A wrong value stops the start with a message that names the setting and the remedy.
This page is generated: `python -m settings > docs/settings.md`.

| setting | default | meaning |
|---|---|---|
{rows}

On a Hugging Face Space the service also reads {space}, which the Space sets itself.
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


if __name__ == "__main__":
    sys.stdout.write(documentation())
