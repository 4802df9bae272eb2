"""An edition's questions are a dataset of the Hub that a judge is run on."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from tests.factories.fakes.fake_hub import COMMIT, DATASET, build
from tests.factories.services.serving import serving
from tests.factories.suite.command_process import CommandProcess
from tests.vlrb.editions.synthetic import lines
from vlrb.editions.edition import write_split

PAIRS = 4


def _question(number: int) -> dict[str, object]:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), (number * 40, 0, 0)).save(out, "PNG")
    image = {"bytes": out.getvalue(), "path": f"{number}.png"}
    responses = [f"yes, {number} it is", f"no, not {number}"]
    return {"id": f"n-{number}", "query": f"Is it {number}?", "response": responses, "image": image}


def test_a_judge_is_run_on_an_edition_of_the_hub_at_a_commit(tmp_path: Path) -> None:
    write_split(tmp_path, "test", map(_question, range(PAIRS)))
    file = tmp_path / "data" / "test-00000-of-00001.parquet"
    (tmp_path / "my_judge.py").write_text(
        "def longer(image, query, response):\n    assert image.size == (8, 8)\n    return len(response)\n"
    )
    given = ["run", "--scorer", "my_judge:longer", "--output", "run", "--benchmark", "next", "--items"]
    parts = ("data/public-00000-of-00001.parquet", "data/hidden-00000-of-00001.parquet")
    hub = {
        "HF_HUB_OFFLINE": "0",
        "HF_DATASETS_OFFLINE": "0",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HOME": str(tmp_path / "hf"),
    }
    fake = build(file.read_bytes(), tmp_path / "ranges.txt", names=parts)
    with serving(fake) as url, CommandProcess({**hub, "HF_ENDPOINT": url, "HF_TOKEN": ""}, tmp_path) as client:
        unnamed = client.run("vlrb.cli", "judge", *given, DATASET)
        done = client.run("vlrb.cli", "judge", *given, f"{DATASET}@{COMMIT}")
    assert (unnamed.returncode, "owner/name@commit" in unnamed.stderr) == (2, True)
    assert done.returncode == 0, done.stderr
    written = lines(tmp_path / "run" / "predictions.jsonl")
    assert [line["scores"] for line in written] == [[[12.0, 9.0]]] * 2 * PAIRS
    assert written[0]["run"]["items"] == f"{DATASET}@{COMMIT}"
