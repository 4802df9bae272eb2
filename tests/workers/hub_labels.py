"""Program that loads labels from the Hub, as a worker does, and prints what it found or why not."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from vlrb.benchmarks.items import load_table
from vlrb.benchmarks.label_files import LabelsError, load_labels


def main(arguments: Sequence[str]) -> int:
    """Print JSON. `arguments`: the item manifest and where the labels are."""
    manifest, spec = arguments
    try:
        table, token = load_table(Path(manifest)), os.environ["LABELS_TOKEN"]
        labels = load_labels(spec, "r1", table=table, token=token)
        print(json.dumps({"preferred": labels.preferred.tolist(), "digest": labels.digest}))
    except LabelsError as error:
        print(json.dumps({"error": str(error)}))
    return 0
