"""The Python interface gives what the commands give, and its documented examples run."""

import json
import re
from pathlib import Path

import pytest

import vlrb
from tests.factories.specs import DEMO
from vlrb.cli import main
from vlrb.numbers.figures import BadFigures
from workers.demo_files import write_demo

GUIDE = Path(__file__).parents[2] / "docs" / "library.md"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    return folder


def _scored(demo: Path, name: str) -> vlrb.Scorecard:
    judge = vlrb.read(demo / "judges" / name, benchmark=DEMO.id, items=demo / "items.json")
    return vlrb.score(judge, demo / "labels.jsonl")


def test_a_scorecard_is_that_of_the_command(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = demo / "judges" / "judge-a.native-judgements.jsonl"
    arguments = [
        "score",
        str(file),
        "--labels",
        str(demo / "labels.jsonl"),
        "--items",
        str(demo / "items.json"),
        "--json",
    ]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(_scored(demo, file.name).card))


def test_a_frame_has_a_row_for_each_rule_and_score_with_its_interval(demo: Path) -> None:
    scored = _scored(demo, "judge-a.native-judgements.jsonl")
    frame = scored.to_frame()
    strict = frame[frame.protocol == "strict"].set_index("score")
    assert strict.accuracy["macro"] == scored.card["protocols"]["strict"]["macro"]
    assert (strict.low < strict.accuracy).all() and (strict.accuracy < strict.high).all()


def test_a_comparison_turned_round_has_the_opposite_sign(demo: Path) -> None:
    first, second = (_scored(demo, name) for name in ("judge-a.native-judgements.jsonl", "judge-c.official.jsonl"))
    there, back = vlrb.compare(first, second), vlrb.compare(second, first)
    difference = first.card["protocols"]["strict"]["macro"] - second.card["protocols"]["strict"]["macro"]
    assert there["macro"].delta == pytest.approx(difference) == pytest.approx(-back["macro"].delta)
    assert there["macro"].p == pytest.approx(back["macro"].p)


def test_place_and_length_are_told_apart_where_the_order_is_known(demo: Path) -> None:
    scored = _scored(demo, "judge-a.native-judgements.jsonl")
    bias, style = (scored.card["behaviour"][name] for name in ("position_bias", "style"))
    assert set(style["categories"]) <= set(DEMO.category_keys)
    assert (style["order"][0] > 0) == (bias["value"] > 0)
    assert _scored(demo, "judge-e.native-votes.jsonl").card["behaviour"]["style"] is None


def test_scorecards_of_other_labels_are_not_compared(demo: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (demo / "labels.jsonl").read_text().splitlines()]
    rows[0]["human_ranking"].reverse()
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    first = _scored(demo, "judge-a.native-judgements.jsonl")
    with pytest.raises(ValueError, match="different labels"):
        vlrb.compare(first, vlrb.score(first.judge, tmp_path / "other.jsonl"))


def test_published_figures_are_checked_as_the_command_does() -> None:
    assert vlrb.check_numbers(overall="66.2")["verdict"] == "fits"
    found = vlrb.check_numbers(macro="99.9", overall="12.3", general="50")
    assert found["verdict"] != "fits" and found["headline"]
    with pytest.raises(BadFigures):
        vlrb.check_numbers(total="66.2")


def test_what_the_guide_shows_runs(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, source in (("predictions", "a.native-judgements"), ("a", "a.native-judgements"), ("b", "b.r1-reward")):
        Path(f"{name}.jsonl").write_bytes((demo / "judges" / f"judge-{source}.jsonl").read_bytes())
    Path("labels_v2.jsonl").write_bytes((demo / "labels.jsonl").read_bytes())
    examples = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert len(examples) == 2
    here = f'benchmark="{DEMO.id}", items="{demo / "items.json"}"'  # the guide's files are of the real benchmark
    scope: dict[str, object] = {}
    for example in examples:
        lines = [line for line in example.splitlines() if "plot" not in line]
        exec(re.sub(r"vlrb\.read\(([^)]*)\)", rf"vlrb.read(\1, {here})", "\n".join(lines)), scope)
