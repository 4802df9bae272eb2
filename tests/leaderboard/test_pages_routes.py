"""The pages beside the board over HTTP: links that hold the state, plain words, hostile input, JSON with problems."""

import asyncio
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.site.cache import BoardCache
from leaderboard.site.serial_executor import QueueFull, SerialExecutor
from tests.factories.board_app import board_app
from tests.factories.labels import SIZES, pairs, table
from tests.factories.pairwise import body, stored
from tests.factories.snapshots import FixedSource, baselines, entry
from tests.factories.specs import INVENTED
from vlrb.benchmarks.pairs import build_table

HOSTILE = "<img src=x onerror=alert(1)>\"'`|[x](javascript:alert(1))"
A, B, C = (f"e{number:011d}" for number in range(1, 4))
R1 = "general=63.84&hallucination=85.71&reasoning=64.78&overall=71.92&macro=71.44"


def item_catalog(folder: Path) -> ItemCatalog:
    """Return items in the numbers of the benchmark; the first pair has hostile texts and an image."""
    rows = pairs(SIZES)
    rows[0] |= {"query": HOSTILE, "response": [HOSTILE + " a", HOSTILE + " b"]}
    (folder / "manifest.json").write_text(json.dumps(build_table(INVENTED, {"r1": rows}).to_json()))
    kept = [{name: row[name] for name in ("id", "query", "response")} for row in rows]
    kept[0]["image"], kept[1]["image"] = "a.png", "../outside.png"
    (folder / "a.png").write_bytes(b"\x89PNG")
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    return ItemCatalog(folder / "manifest.json", folder / "items.jsonl", relations_body=stored)


def serve(held: ItemCatalog, benchmark: str = "vl-rewardbench", *, more: tuple[dict[str, Any], ...] = ()) -> FastAPI:
    hostile = entry(99, 0.64, model=HOSTILE, version=HOSTILE, organisation=HOSTILE)
    cache = BoardCache(FixedSource(body(hostile, *more, benchmark=benchmark)), check_every=0.0)
    return board_app(cache, held)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with TestClient(serve(item_catalog(tmp_path_factory.mktemp("materials")))) as client:
        yield client


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html.split("<main")[1])).replace("\u00a0", " ").split())


def test_a_result_has_a_link_and_says_it_in_words(client: TestClient) -> None:
    text = text_of(client.get(f"/check-numbers?{R1}").text)
    finding = re.search(r"RLAIF-V and RLHF-V counted as general \(484/448/318\), not [\w ]+\.", text)
    assert finding and finding[0] in text_of(client.get("/entries/r-r1-reward-2505-02835").text)
    assert "general 309/484, hallucination 384/448, reasoning 206/318" in text
    assert "overall 899/1250 = 71.92" in text
    assert "77.18 to 77.19" in text


def test_examples_are_links_to_their_answers(client: TestClient) -> None:
    html = client.get("/check-numbers").text
    links = [unescape(link) for link in re.findall(r'href="(/check-numbers\?[^"]+)"', html)]
    verdicts = [re.search(r'class="verdict[^>]*>([^<]+)', client.get(link).text) for link in links]
    words = [found[1] if found else "" for found in verdicts]
    assert ["484/448/318" in words[0], "631/301/318" in words[1], "no categories" in words[2]] == [True] * 3


def test_a_figure_that_cannot_be_read_is_marked_where_it_stands(client: TestClient) -> None:
    reply = client.get("/check-numbers?general=abc&macro=70")
    assert reply.status_code == 400
    assert re.search(r'name="general"\s+value="abc"[^>]*aria-invalid="true"\s+aria-describedby="wrong"', reply.text)
    assert 'value="70"' in reply.text
    assert "“abc” is not a percentage" in reply.text


def test_the_answer_as_json_and_its_problems(client: TestClient) -> None:
    found = client.get(f"/api/v1/check-numbers?{R1}").json()
    assert found["verdict"] == "fits"
    assert found["fits"][0]["right"] == [309, 384, 206]
    wrong = client.get("/api/v1/check-numbers?overall=x")
    assert (wrong.status_code, wrong.headers["content-type"]) == (400, "application/problem+json")
    assert (wrong.json()["code"], wrong.json()["parameter"]) == ("bad-figures", "overall")
    assert client.get("/api/v1/check-numbers").json()["code"] == "bad-figures"
    for start in ("/api/v1", ""):
        unknown = client.get(f"{start}/check-numbers?{R1}&micro=70")
        assert unknown.status_code == 400
        assert re.search("micro.+ is not .+ general, hallucination, reasoning", unknown.text)


def test_not_more_wait_than_can_be_answered_soon() -> None:
    async def ask() -> list[object]:
        executor = SerialExecutor(most_waiting=2)
        done = await asyncio.gather(*(executor.take(str, number) for number in range(4)), return_exceptions=True)
        return [*map(type, done), await executor.take(str, 1)]

    assert asyncio.run(ask()) == [str, str, QueueFull, QueueFull, "1"]


def test_reported_rows_link_to_their_figures(client: TestClient) -> None:
    html = client.get("/entries/r-r1-reward-2505-02835").text
    assert f'href="/check-numbers?{R1.replace("&", "&amp;")}"' in html


def test_a_comparison_has_a_link_and_a_sentence(client: TestClient) -> None:
    page = client.get(f"/compare?entries={A},{B}").text
    text = text_of(page)
    assert f'<a href="/explore?only={A}&amp;not={B}">' in page
    assert re.search(
        r"different\? This [\w ]+\. Judge A agrees [\w ]+ than Judge B on hallucination \(\+\d+\.\d points, p <", text
    )
    assert "Only A is right" in text


def test_a_judge_picked_from_the_list_of_the_field_is_added(client: TestClient) -> None:
    html = client.get(f"/compare?entries={A}").text
    assert f'<option value="Judge B [{B}]">' in html
    both = client.get("/compare", params={"entries": A, "q": f"Judge B [{B}]"}).text
    full = client.get("/compare?entries=" + ",".join(f"e{n:011d}" for n in range(1, 6))).text
    assert 'type="search"' in html and 'type="search"' not in full
    removal = f'href="/compare?entries={A}"'
    assert removal not in html and removal in both
    assert both.index('class="verdicts"') < both.index("<table"), "the verdict stands before the tables"


def test_what_is_unknown_is_said_and_breaks_nothing(client: TestClient) -> None:
    text = text_of(client.get(f"/compare?entries={A},nobody&grouping=x&revision=y").text)
    assert "There is no entry nobody." in text
    assert client.get("/compare?entries=" + ",".join("x" * 9 + str(n) for n in range(99))).status_code == 200


def test_a_comparison_as_json_and_its_problems(client: TestClient) -> None:
    found = client.get(f"/api/v1/compare?entries={A},{B},{C}").json()
    assert len(found["pairs"]) == 3
    assert {pair["paired"] for pair in found["pairs"]} == {True}
    macro = found["pairs"][0]["differences"]["macro"]
    assert macro["only_first"] is None
    assert macro["interval"][0] < macro["difference"] < macro["interval"][1]
    for query, status, code in (
        (f"entries={A}", 400, "bad-entries"),
        (f"entries={A},{A}", 400, "bad-entries"),
        (f"entries={A},nobody", 404, "unknown-entry"),
        (f"entries={A},{B}&grouping=x", 400, "unknown-grouping"),
        (f"entries={A},{B}&revision=x", 400, "unknown-revision"),
    ):
        reply = client.get(f"/api/v1/compare?{query}")
        assert (reply.status_code, reply.json()["code"]) == (status, code)


def test_an_entry_shows_its_neighbours_and_whether_they_differ(client: TestClient) -> None:
    html = client.get(f"/entries/{B}").text
    assert re.search(r"Neighbours\. .*(ahead of|behind|difference from) .*Judge A", text_of(html))
    assert f'href="/compare?entries={B},' in html


def test_sentences_about_an_even_number_of_votes_stand_apart(tmp_path: Path) -> None:
    served = serve(item_catalog(tmp_path), more=(entry(98, 0.6, k=2),))
    with TestClient(served) as client:
        text = text_of(client.get("/entries/e00000000098").text)
    assert not re.search(r"[a-z]\.[A-Z]", text)


def test_pairs_are_listed_and_each_has_an_address(client: TestClient) -> None:
    html = client.get("/explore?category=reasoning&right=few").text
    links = re.findall(r'href="(/explore/[0-9a-f]{12})"', html)
    assert links
    text = text_of(client.get(links[0]).text)
    assert "Response A" in text
    assert "We do not show" in text
    assert re.search(r"Judges right (0–10|10–20|20–30)% of the compared 6", text)
    assert client.get("/explore/abcdefabcdef").status_code == 404
    assert client.get("/explore/..%2f..%2fetc").status_code == 404


def test_texts_are_text_and_images_come_from_here(client: TestClient) -> None:
    found = client.get("/explore?q=onerror").text
    link = re.findall(r'href="(/explore/[0-9a-f]{12})"', found)[0]
    assert f'<img src="{link}/image" alt=""' in found
    html = client.get(link).text
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert f'<img class="picture" src="{link}/image"' in html
    image = client.get(f"{link}/image")
    assert (image.headers["content-type"], image.content) == ("image/png", b"\x89PNG")
    assert image.headers["x-content-type-options"] == "nosniff"
    other = re.findall(r'href="(/explore/[0-9a-f]{12})"', client.get("/explore?q=VLFeedback-1").text)[0]
    assert "<img" not in client.get(other).text + client.get("/explore?q=VLFeedback-1").text
    assert client.get(f"{other}/image").status_code == 404


def test_without_an_item_file_facts_are_shown_and_visitors_see_no_setting(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps(table(SIZES).to_json()))
    with TestClient(serve(ItemCatalog(manifest, None, relations_body=stored))) as client:
        html = client.get("/explore").text
        assert "texts are not available" in html
        assert ">Pair</th>" in html and ">Question</th>" not in html
        link = re.findall(r'href="(/explore/[0-9a-f]{12})"', html)[0]
        assert "Response A" not in client.get(link).text
        assert not [page for page in (html, client.get(link).text) if "ITEMS_FILE" in page]


@pytest.fixture
def later() -> Iterator[TestClient]:
    """Yield a board that has moved on: what was compared stands on the one before, and has been scored again since."""
    source = FixedSource(body())
    source.turn({**body(entry(9, 0.9, model="Newcomer")), "relations": {}})
    cache = BoardCache(source, check_every=0.0)
    with TestClient(board_app(cache, ItemCatalog(None, None, relations_body=stored))) as client:
        yield client


def test_a_comparison_of_the_past_is_the_one_of_then(later: TestClient) -> None:
    chosen = f"entries={A},{B}"
    then = later.get(f"/compare?{chosen}&as_of=snapshot-1").text
    assert "Only A" in then
    assert f'href="/entries/{A}?as_of=snapshot-1"' in then
    assert 'name="as_of" value="snapshot-1"' in then
    assert "Only A" not in later.get(f"/compare?{chosen}").text
    found = later.get(f"/api/v1/compare?{chosen}&as_of=snapshot-1").json()
    assert (found["snapshot"], found["pairs"][0]["paired"]) == ("snapshot-1", True)
    assert later.get(f"/api/v1/compare?{chosen}").json()["pairs"][0]["paired"] is False
    assert later.get(f"/api/v1/compare?{chosen}&as_of=whenever").json()["code"] == "invalid-as-of"
    assert later.get(f"/compare?{chosen}&as_of=whenever").status_code == 404


def test_a_rule_that_judges_nothing_is_not_compared() -> None:
    rules = baselines()
    first = rules[0]["id"]
    cache = BoardCache(FixedSource({**body(), "baselines": rules}), published=())
    with TestClient(board_app(cache)) as client:
        assert f"There is no entry {first}" in text_of(client.get(f"/compare?entries={A},{first}").text)
        assert "baseline" not in text_of(client.get("/compare").text)
        assert client.get(f"/api/v1/compare?entries={A},{first}").json()["code"] == "unknown-entry"
