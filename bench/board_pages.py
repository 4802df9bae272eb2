"""`python bench/board_pages.py KIND PORT FOLDER`: a peer's page with the board's rows, served from one process.

``dataframe`` is a gr.Dataframe; ``gradio-leaderboard`` the component of that name, on Gradio 5 in an environment of
its own, which is why nothing is imported before it is needed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(kind: str, port: int, *, folder: Path) -> None:
    """Serve until ended."""
    import gradio as gr
    import pandas as pd

    table = json.loads((folder / "rows.json").read_bytes())
    frame = pd.DataFrame(table["rows"], columns=table["columns"])
    with gr.Blocks(analytics_enabled=False) as page:
        if kind == "dataframe":
            gr.Dataframe(frame, interactive=False, show_search="search")
        else:
            from gradio_leaderboard import Leaderboard  # type: ignore[import-not-found]  # lives in .venv-peer

            Leaderboard(frame, search_columns=["Judge"])
    page.launch(server_name="127.0.0.1", server_port=port, quiet=True, share=False, ssr_mode=False)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(sys.argv[1], int(sys.argv[2]), folder=Path(sys.argv[3]))
