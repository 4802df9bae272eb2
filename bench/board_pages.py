"""`.venv-peer/bin/python bench/board_pages.py PORT FOLDER`: gradio_leaderboard with the board's rows, on Gradio 5 in an
environment of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gradio as gr
import pandas as pd
from gradio_leaderboard import Leaderboard  # type: ignore[import-not-found]  # lives in .venv-peer

if __name__ == "__main__":
    table = json.loads((Path(sys.argv[2]) / "rows.json").read_bytes())
    with gr.Blocks(analytics_enabled=False) as page:
        Leaderboard(pd.DataFrame(table["rows"], columns=table["columns"]), search_columns=["Judge"])
    page.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True, share=False, ssr_mode=False)
