"""The public pages over HTTP: bytes, encodings, ETags, views without a script, hostile text."""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape

import pytest
from starlette.testclient import TestClient

from leaderboard.board import pages as routes
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.site import cache
from leaderboard.site.cache import BoardCache
from leaderboard.site.colours import DARK, LIGHT
from leaderboard.site.render import assets, safe_link
from leaderboard.site.render_context import RenderContext
from tests.factories import pairwise
from tests.factories.board_app import board_app, serve
from tests.factories.snapshots import FixedSource, crowd, entry, snapshot
from tests.factories.specs import DEMO, VL

HOSTILE = "<img src=x onerror=alert(1)>\"'`|[x](javascript:alert(1))"


@pytest.fixture
def source() -> FixedSource:
    return FixedSource(snapshot([entry(1, 0.7, organisation="Lab"), entry(2, 0.55, k=1, judge_type="scalar")]))


@pytest.fixture
def client(source: FixedSource) -> Iterator[TestClient]:
    with TestClient(serve(source)) as client:
        yield client


def models(html: str) -> list[str]:
    body = html.split("<tbody>", 1)[1].split("</table>")[0]
    return [re.sub("<[^>]*>", "", name) for name in re.findall(r'<a href="/entries/[^"]+"[^>]*>(.*?)</a>', body)]


def test_the_board_comes_compressed_with_a_strong_etag_and_is_not_sent_twice(client: TestClient) -> None:
    for coding in ("br", "gzip"):
        first = client.get("/", headers={"Accept-Encoding": coding})
        assert first.headers["content-encoding"] == coding
        assert set(first.headers["vary"].split(", ")) == {"Accept-Encoding", "Accept-Language", "Cookie"}
        assert "no-cache" in first.headers["cache-control"]
        etag = first.headers["etag"]
        assert etag.endswith(f'-{coding}"')
        again = client.get("/", headers={"Accept-Encoding": coding, "If-None-Match": f'"other", {etag}'})
        assert again.status_code == 304
        assert again.content == b""
        assert again.headers["etag"] == etag
    plain = client.get("/", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert "<h1>Judge 1 leads" in plain.text


def test_the_board_has_its_style_sheet_in_it_and_allows_no_other(client: TestClient) -> None:
    page = client.get("/")
    (sheet,) = re.findall("<style>(.*?)</style>", page.text, re.DOTALL)
    digest = b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    assert f"; style-src 'self' 'sha256-{digest}';" in page.headers["content-security-policy"]
    embedded = client.get("/?embed=1")
    assert "<style>" not in embedded.text and "sha256" not in embedded.headers["content-security-policy"]


def test_the_fast_path_and_the_route_send_the_same_page(source: FixedSource) -> None:
    with TestClient(board_app(BoardCache(source))) as slow, TestClient(serve(source)) as fast:
        for headers in ({}, {"Accept-Encoding": "identity"}):
            one, other = slow.get("/", headers=headers), fast.get("/", headers=headers)
            assert one.content == other.content
            assert dict(one.headers) == dict(other.headers)


def test_static_files_are_cached_permanently_under_the_name_of_their_content(client: TestClient) -> None:
    for asset in assets().values():
        reply = client.get(asset.url, headers={"Accept-Encoding": "br"})
        assert "immutable" in reply.headers["cache-control"]
        assert client.get(f"/static/{asset.name}").headers["cache-control"] == "public, no-cache"
    assert client.get("/static/site.0000000000.css").status_code == 404
    assert client.get("/static/..%2fweb.py").status_code == 404


def test_a_new_snapshot_is_picked_up(source: FixedSource, client: TestClient) -> None:
    before = client.get("/").headers["etag"]
    source.turn(snapshot([entry(3, 0.9, model="Newcomer")]))
    after = client.get("/", headers={"If-None-Match": before})
    assert after.status_code == 200
    assert "Newcomer" in models(after.text)


def test_the_pointer_is_looked_at_seldom_and_the_snapshot_loaded_once(source: FixedSource) -> None:
    now = [0.0]
    board_cache = BoardCache(source, check_every=0.5, warm=routes.front_page)
    board_cache.clock = lambda: now[0]
    with TestClient(routes.BoardFastPathMiddleware(board_app(board_cache), board_cache)) as client:
        for _ in range(20):
            client.get("/")
        assert source.looks == 1
        now[0] = 0.6
        client.get("/")
        assert (source.looks, source.loads) == (2, 1)


def test_an_old_board_is_served_while_the_database_is_away(source: FixedSource, client: TestClient) -> None:
    assert client.get("/").status_code == 200
    source.failing = True
    assert client.get("/").status_code == 200
    assert client.get("/?q=judge").status_code == 200


def test_a_pause_is_said_on_the_board_as_text_and_unsaid(source: FixedSource, client: TestClient) -> None:
    assert "No submissions" not in client.get("/").text
    source.paused = "Back <b>at noon</b>."
    for address in ("/", "/?q=judge", "/?embed=1"):
        page = client.get(address).text
        assert "No submissions" in page and ".</b> Back &lt;b&gt;at noon&lt;/b&gt;.</p>" in page, address
    source.paused = None
    assert "No submissions" not in client.get("/").text


def test_delayed_scores_are_said_and_unsaid(source: FixedSource, client: TestClient) -> None:
    assert "delayed" not in client.get("/").text
    source.delayed_since = datetime(2026, 11, 21, 14, 2, tzinfo=UTC)
    assert 'delayed since <time datetime="2026-11-21T14:02:00+00:00">' in client.get("/").text
    assert "14:02 UTC" in client.get("/?sort=general").text
    source.delayed_since = None
    assert "delayed" not in client.get("/").text
    assert source.loads == 1


def test_the_demo_says_so_and_that_reported_rows_are_not_comparable(source: FixedSource, client: TestClient) -> None:
    assert "Demo:" not in client.get("/").text
    source.turn(snapshot([entry(1, 0.7)], "demo"))
    client = TestClient(serve(source, context=RenderContext(DEMO)))
    text = client.get("/").text
    assert "<b>Demo:</b> simulated judges" in text
    assert text.count("not comparable") == 2, "of the judges, and of the reported rows"
    assert "Demo:" in client.get("/entries/e00000000001").text


def test_an_empty_board_renders() -> None:
    with TestClient(serve(FixedSource(None), published=())) as client:
        assert "No judge yet" in client.get("/").text
        assert client.get("/about").status_code == 200
    with TestClient(serve(FixedSource(None))) as client:
        assert "Nothing has been scored" in client.get("/?tier=scored").text
        assert "R1-Reward" in client.get("/").text


def test_every_control_works_without_a_script(client: TestClient) -> None:
    assert models(client.get("/?tier=scored").text) == ["Judge 1", "Judge 2"]
    assert models(client.get("/?tier=scored&sort=macro&dir=asc").text) == ["Judge 2", "Judge 1"]
    assert models(client.get("/?tier=scored&sort=model:asc").text) == ["Judge 1", "Judge 2"]
    assert models(client.get("/?q=type:scalar+tier:scored").text) == ["Judge 2"]
    assert "No judge matches" in client.get("/?q=nobody-at-all").text
    assert re.search("[12] scored judges? (is|are) left out", client.get("/?q=size:<10").text)
    sorted_page = client.get("/?sort=hallucination&dir=desc").text
    assert re.search(r'class="score hallucination[^>]*aria-sort="descending"', sorted_page)
    assert len(re.findall(r"<th[^>]* aria-sort=", sorted_page)) == 1
    chosen = client.get("/?protocol=paper&grouping=povid-in-general&revision=v0").text
    for name, value in (("protocol", "paper"), ("grouping", "povid-in-general"), ("revision", "v0")):
        assert re.findall(rf'name="{name}" value="([^"]*)" checked', chosen) == [value]


def test_what_differs_between_views_comes_alone_and_all_orders_of_the_front_page_at_once(client: TestClient) -> None:
    page, part = client.get("/?sort=general&dir=desc").text, client.get("/?dir=desc&tier=&sort=general&part=board").text
    reply = client.get("/?part=orders")
    orders = reply.json()
    assert "Accept-Language" in reply.headers["vary"]
    headings = re.findall(r'<a href="([^"]+)" id="(?:sort|by)-', client.get("/").text)
    assert set(orders) == {"/", *map(unescape, headings)}
    order = orders["/?sort=general&dir=desc"]
    assert 'data-view="/?sort=general&amp;dir=desc"' in order and "<form" not in order.partition('id="results"')[0]
    for text in (part, order):
        ids = re.findall(r'id="(\w+)" data-part', text)
        assert set(ids) <= set(re.findall(r'id="(\w+)" data-part', page))
        results = re.search(r'<div id="results".*?<p class="empty"', text, re.S)
        assert results and results[0] in page


def test_pages_of_rows_follow_one_another() -> None:
    with TestClient(serve(FixedSource(snapshot(crowd(70))), published=())) as client:
        pages = [models(client.get(f"/?page={page}").text) for page in (1, 2, 3)]
        assert [len(page) for page in pages] == [30, 30, 10]
        assert len({name for page in pages for name in page}) == 70
        assert models(client.get("/?page=99").text) == pages[2]
        assert 'rel="next"' in client.get("/").text


@pytest.mark.parametrize(
    ("address", "safe"),
    [
        ("https://example.org/a?b=1", True),
        ("HTTP://example.org", True),
        ("//evil.example", False),
        ("javascript:alert(1)", False),
        ("https:///nohost", False),
        ("https://example.org/\u0000", False),
        ("https:\\\\evil.example", False),
    ],
)
def test_only_web_addresses_become_links(address: str, safe: bool) -> None:
    assert (safe_link(address) == address) is safe


def test_an_owners_link_is_followed_by_nobody_on_our_behalf(source: FixedSource, client: TestClient) -> None:
    source.turn(snapshot([entry(1, 0.7, link="https://example.org/judge")]))
    page = client.get("/entries/e00000000001").text
    assert '<a href="https://example.org/judge" rel="noopener nofollow ugc">' in page


def test_an_entry_page_shows_every_rule_grouping_source_tag_and_revision(client: TestClient) -> None:
    page = client.get("/entries/e00000000001").text
    for text in ("lmms-eval", "631/301/318", "484/448/318", "MMMU-Pro", "Existence", "Votes per pair", "?revision=v0"):
        assert text in page
    single = client.get("/entries/e00000000002").text
    assert "chart=votes" in page and "chart=votes" not in single


def test_a_reported_result_has_a_page_with_its_source_and_the_arithmetic(client: TestClient) -> None:
    page = client.get("/entries/r-r1-reward-2505-02835").text
    assert 'href="https://arxiv.org/abs/2505.02835"' in page
    assert "Fits 484/448/318" in page
    assert "63.84" in page


def test_what_does_not_exist_is_a_page_for_people_and_a_problem_for_programs(client: TestClient) -> None:
    page = client.get("/entries/e99999999999")
    assert page.status_code == 404
    assert "does not exist" in page.text
    assert 'role="search"' in page.text and 'href="/compare"' in page.text
    assert client.get("/nowhere").status_code == 404
    reply = client.get("/api/v1/nowhere")
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["code"] == "not-found"


@pytest.fixture
def best_compression(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have everything compressed as the service does; tests compress quickly."""
    monkeypatch.setattr(cache, "BROTLI_QUALITY", 11)
    assets.cache_clear()
    yield
    assets.cache_clear()


@pytest.mark.usefixtures("best_compression")
def test_a_first_visit_to_a_hundred_entries_takes_less_than_forty_kilobytes() -> None:
    with TestClient(serve(FixedSource(snapshot(crowd(100))), published=())) as client:
        page = client.get("/").text
        paths = ["/", "/?part=orders", *dict.fromkeys(re.findall(r'(?:href|src)="(/static/[^"]+)"', page))]
        assert len(paths) > 4
        sizes = [int(client.get(path, headers={"Accept-Encoding": "br"}).headers["content-length"]) for path in paths]
        assert sum(sizes) < 40_000


def test_the_colours_of_the_style_sheet_are_those_of_the_figures() -> None:
    css = assets()["site.css"].body.encodings["identity"].decode()
    light, dark = css.split("@media screen and (prefers-color-scheme:dark)")[:2]
    for text, palette in ((light, LIGHT), (dark, DARK)):
        root = dict(re.findall(r"--([a-z]+):(#[0-9a-f]{6})", text.split("}")[0]))
        assert len(root) >= 11
        drawn = {category.key: palette.of(category.key, VL) for category in VL.categories}
        assert root == {name: drawn.get(name) or getattr(palette, name) for name in root}


def test_an_old_board_says_when_it_was_and_leads_back_to_the_current_one(
    source: FixedSource, client: TestClient
) -> None:
    source.turn(snapshot([entry(9, 0.8, model="Newcomer")]))
    assert "Board as of" not in client.get("/").text
    assert 'href="/?tier=scored&amp;as_of=snapshot-2" data-permalink' in client.get("/?tier=scored").text
    old = client.get("/?as_of=snapshot-1&tier=scored").text
    assert models(old) == ["Judge 1", "Judge 2"]
    assert "Board as of" in old and "2026-11-21 22:00 UTC" in old
    assert 'href="/?tier=scored" data-current' in old
    assert 'href="/entries/e00000000001?as_of=snapshot-1"' in old
    page = client.get("/entries/e00000000001?as_of=snapshot-1")
    assert page.status_code == 200 and "Board as of" in page.text
    assert client.get("/entries/e00000000001").status_code == 404


@pytest.mark.parametrize("when", ["nowhen", "whenever"])
def test_a_board_that_never_was_is_not_silently_the_current_one(client: TestClient, when: str) -> None:
    for path in ("/", "/entries/e00000000001"):
        reply = client.get(f"{path}?as_of={when}")
        assert reply.status_code == 404
        assert "No leaderboard" in reply.text


def test_searches_do_not_push_the_front_page_out(source: FixedSource) -> None:
    board_version = BoardCache(source).refresh()
    front = routes.front_page(board_version)
    for number in range(600):
        board_version.get_or_render(f"other {number}", lambda: front)
        assert board_version.get_cached("/") is front


def test_a_withdrawn_entry_leaves_a_page_with_date_and_reason(source: FixedSource) -> None:
    when = "2026-11-20T10:00:00Z"
    stubs = [
        {"id": "egone", "withdrawn": True, "at": when, "model": HOSTILE, "version": "", "reason": "wrong prompt"},
    ]
    source.turn({**snapshot([entry(1, 0.7)]), "stubs": stubs})
    with TestClient(serve(source)) as client:
        gone = client.get("/entries/egone")
        assert gone.status_code == 410
        assert "withdrawn on 2026-11-20: wrong prompt" in re.sub("</?time[^>]*>", "", gone.text)
        assert "<img src=x" not in gone.text
        api = client.get("/api/v1/entries/egone")
        assert (api.status_code, api.headers["content-type"]) == (410, "application/problem+json")
        told = {name: api.json()[name] for name in ("code", "title", "at", "reason")}
        assert told == {"code": "withdrawn", "title": "Gone", "at": when, "reason": "wrong prompt"}
        for rest in ("badge.svg", "og.png", "cite.bib"):
            assert client.get(f"/entries/egone/{rest}").status_code == 410
        for path in ("/api/v1/entries/{}", *(f"/entries/{{}}/{name}" for name in ("badge.svg", "og.png", "cite.bib"))):
            assert client.get(path.format("enever")).status_code == 404


OTHER = "e00000000002"
TOOLS = ("/compare", f"/compare?entries={OTHER}", f"/entries/{OTHER}", "/?q=judge")


@pytest.mark.parametrize("path", TOOLS)
def test_pages_of_an_old_board_say_so_and_lead_on_to_tools_of_the_same_board(
    source: FixedSource, client: TestClient, path: str
) -> None:
    source.turn(snapshot([entry(9, 0.8, model="Newcomer")]))
    address = path + ("&" if "?" in path else "?") + "as_of=snapshot-1"
    old = client.get(address).text
    assert "Board as of" in old and "snapshot-1" in old
    assert f'href="{path}" data-current' in old
    for tool in ("/", "/compare"):
        assert f'<a href="{tool}?as_of=snapshot-1"' in old, tool
    now = client.get(path).text
    assert "Board as of" not in now and "as_of=" not in re.sub("<main.*", "", now, flags=re.DOTALL)


def test_the_entry_page_under_other_labels_is_a_page_of_its_own(client: TestClient) -> None:
    page = client.get("/entries/e00000000001?revision=v0").text
    assert "Counted under labels <b>v0</b>" in page
    assert "carry no error tags" in page
    assert 'href="/entries/e00000000001"' in page
    assert 'href="/api/v1/entries/e00000000001?revision=v0"' in page
    assert "labels v0" in client.get("/entries/e00000000001/cite.bib?revision=v0").text
    assert "Existence" in client.get("/entries/e00000000001?revision=v2").text
    wrong = client.get("/entries/e00000000001?revision=v9")
    assert wrong.status_code == 404
    assert 'href="/entries/e00000000001?revision=v0"' in wrong.text


def test_an_entry_keeps_a_line_and_a_board_for_every_label_revision(source: FixedSource, client: TestClient) -> None:
    page = client.get("/entries/e00000000001").text
    table = page.split('class="card labels"')[1].split("</table>")[0]
    links = [link.replace("&amp;", "&") for link in re.findall(r'href="([^"]+)"', table)]
    assert links == [
        "/?as_of=snapshot-1",
        "/entries/e00000000001?revision=v0",
        "/?revision=v0&as_of=snapshot-1",
    ]
    body = snapshot([entry(1, 0.9)])
    source.turn({**body, "label_revision": "v0"})
    assert all(client.get(link).status_code == 200 for link in links)
    assert models(client.get("/?as_of=snapshot-1&tier=scored").text) == ["Judge 1", "Judge 2"]


def test_verified_flagged_and_numbered_attempts_are_said_in_words(source: FixedSource, client: TestClient) -> None:
    marks = {"verified_at": "2026-11-02T08:00:00Z", "flag": "the prompt names the answer", "attempt": 2, "attempts": 3}
    marks["anonymous_until"] = "2027-01-31T00:00:00Z"
    source.turn(snapshot([entry(1, 0.7, **marks)]))
    page = re.sub("<[^>]+>", " ", client.get("/entries/e00000000001").text)
    words = " ".join(page.split())
    assert "Flagged by the maintainers: the prompt names the answer" in words
    assert "verified by a maintainer 2026-11-02" in words
    assert "Attempt 2 of 3" in words
    assert "anonymous until 2027-01-31" in words
    assert "/receipt" not in client.get("/entries/e00000000001").text.replace("/receipts", ""), "that names the owner"
    assert "vlrb verify" in words
    assert "the prompt names the answer" in client.get("/").text


def test_entries_are_chosen_for_comparison_by_links_and_buttons_alone(client: TestClient) -> None:
    one, other = "e00000000001", "e00000000002"
    page = client.get(f"/?tier=scored&sort=general&compare={one}&compare={other}").text
    bar = page.split('class="picked"')[1].split("</p>")[0]
    assert "Compare 2" in bar
    assert f'href="/compare?entries={one},{other}"' in bar
    assert page.count('aria-pressed="true"') == 2
    assert f'name="compare" value="{one},{other}"' in page.split('<form id="ranking"')[1]
    again = client.get(f"/?compare={one},{other}&compare={one}").text
    assert again.count('aria-pressed="true"') == 1, "asking twice takes it off"
    assert "Compare with others" in again
    only = re.search(r'href="([^"]+)">Show only', page)
    assert only and models(client.get(only[1].replace("&amp;", "&")).text) == ["Judge 1", "Judge 2"]
    many = ",".join(f"e{number:011d}" for number in range(1, 9))
    assert "compare=" + ",".join(many.split(",")[:5]) + '"' in client.get(f"/?compare={many}").text
    assert re.search('class="picked"[^>]* hidden', client.get("/").text)


def test_the_first_sentence_follows_the_view_and_tests_the_judges_that_a_filter_leaves() -> None:
    boards = BoardCache(FixedSource(pairwise.body()))
    catalog = ItemCatalog(relations_body=pairwise.stored, spec=VL)
    with TestClient(board_app(boards, catalog)) as client:
        said = {}
        for query in ("", "?sort=hallucination", "?q=id:e00000000001,e00000000004", "?q=id:e00000000001,e00000000005"):
            said[query[-6:]] = client.get(f"/{query}").text.split("<h1>")[1].split("</h1>")[0]
    assert len(set(said.values())) == 4
    assert "shares first place" in said["000004"] and "Judge A" in said["000004"] and "Judge D" in said["000004"]
    assert "Of these judges, Judge A leads" in said["000005"]


def test_an_old_board_is_drawn_once_however_it_is_asked_for(source: FixedSource, client: TestClient) -> None:
    source.turn(snapshot([entry(9, 0.8, model="Newcomer")]))
    part, name = client.get("/?as_of=snap"), client.get("/?as_of=snapshot-1")
    assert (part.status_code, part.headers["etag"]) == (200, name.headers["etag"])
