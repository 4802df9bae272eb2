"""The maintain page in a real browser, on the real labels: what a maintainer does on a day when labels change."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.factories.services.gradio_pages import open_maintain
from tests.factories.services.service import Service, running, until
from tests.real_data import real_file

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]
JUDGE = "data/predictions/vl-reward-model_qwen2vl7b_judge.json"
REWARD = "data/predictions/vl-reward-model_qwen2vl7b_reward.json"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directories = str(real_file("data/labels_v2.jsonl").parent)
    labels = f"v1={real_file('data/items_v1.json')}"
    with running(
        tmp_path_factory.mktemp("maintain") / "data", gradio=True, LABELS=labels, LABEL_IMPORT_DIRS=directories
    ) as started:
        yield started


@pytest.fixture(scope="module")
def entries(service: Service) -> list[str]:
    """Return two judges on the board."""
    ids = []
    for model, path in (("Judge", JUDGE), ("Reward", REWARD)):
        files = {"file": ("x.json", real_file(path).read_bytes())}
        reply = service.http.post("/api/v1/submissions", files=files, data={"model": model})
        ids.append(str(reply.json()["id"]))
    until(lambda: set(ids) <= _board(service), 60, what="both are on the board")
    return ids


@pytest.fixture(scope="module")
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """Yield the page, opened once; it fails the tests when it runs somebody's script or logs an error."""
    wrong: list[str] = []
    found = browser.new_context().new_page()
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))  # type: ignore[func-returns-value]
    open_maintain(found, f"{service.url}/app/maintain")
    yield found
    assert not wrong
    found.context.close()


def _board(service: Service) -> set[str]:
    return {one["id"] for one in service.http.get("/api/v1/leaderboard").json()["entries"]}


def _revision(service: Service) -> str:
    return str(service.http.get("/api/v1/leaderboard").json()["label_revision"])


def _tab(page: Page, name: str) -> Locator:
    tab = page.get_by_role("tab", name=re.compile(rf"^{name}( \d+)?$"))
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")
    return page.locator("[role=tabpanel]:visible")


def _act(tab: Locator, row: str, *, action: str, **typed: str) -> None:
    """Choose an action at a row that may have it by now, in its menu where it has one, and fill its dialog in."""
    found = tab.locator(f'tr[data-key="{row}"]:not([data-without~="{action}"])')
    found.wait_for()
    if found.locator("[data-menu]").count():
        found.locator("[data-menu]").click()
        tab.locator(f'dialog[open] [data-act="{action}"]').click()
    else:
        found.locator(f'[data-act="{action}"]').click()
    dialog = tab.locator("dialog[open]")
    for name, text in typed.items():
        dialog.locator(f'[name="{name}"]').fill(text)
    dialog.locator("[type=submit]").click()


def _press(tab: Locator, name: str) -> None:
    tab.get_by_role("button", name=name, exact=True).click()


def _choose(tab: Locator, file: Path) -> None:
    """Choose a file of reported results, in place of the one that stands there, also of a run that failed."""
    clear = tab.locator("#reported-file").get_by_label("Clear").first
    if clear.is_visible():
        clear.click()
    # The page still holds the file it had until it has asked the service what follows from none.
    expect(tab.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    tab.locator("#reported-file input[type=file]").set_input_files(file)
    expect(tab.locator("#reported-file .file-preview")).to_contain_text("results")  # the upload has ended


def test_labels_are_imported_previewed_applied_after_a_typed_confirmation_and_undone(
    page: Page, service: Service, entries: list[str]
) -> None:
    tab = _tab(page, "Labels")
    progress, said = tab.locator("#rescore-said"), tab.locator("#revisions-outcome")
    tab.get_by_label("Name of the new revision").fill("v2")
    tab.get_by_label("File or Hub dataset").fill(str(real_file("data/labels_v2.jsonl")))
    tab.get_by_label("Reason", exact=True).locator("visible=true").fill("the authors changed sixteen labels")
    _press(tab, "Import as a draft")
    expect(progress).to_contain_text("imported as a draft")
    expect(tab.locator("#revisions")).to_contain_text("16 flipped, 0 added, 3 dropped")
    _act(tab, "v2", action="rescore.preview")
    expect(tab.locator("#preview")).to_contain_text("16 flipped, 0 added, 3 dropped")
    expect(tab.locator("#preview table").first).to_contain_text("Reward")
    assert _revision(service) == "v1"
    _act(tab, "v2", action="rescore.apply", reason="corrected", confirmation="v1")
    expect(said).to_contain_text("To confirm, type v2")
    expect(tab.locator("#preview")).to_contain_text("16 flipped")
    _act(tab, "v2", action="rescore.apply", reason="corrected", confirmation="v2")
    expect(progress).to_contain_text("Applied: 2 entries.")  # under labels that are hidden nothing is said of ranks
    expect(tab.locator("#preview")).to_be_empty()  # it compared with a board that is gone
    until(lambda: _revision(service) == "v2", 60, what="the board shows the new labels")
    assert set(entries) <= _board(service)
    assert all(service.http.get(f"/entries/{entry}").status_code == 200 for entry in entries)
    _act(tab, "v2", action="rescore.undo", reason="a mistake", confirmation="v2")
    expect(said).to_contain_text("The board shows revision v1")
    until(lambda: _revision(service) == "v1", 60, what="the board shows the old labels")


def test_a_tab_has_its_address_and_the_back_button_leads_to_the_last_one(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/app/maintain?tab=review")
    expect(page.get_by_role("tab", selected=True)).to_have_text(re.compile("^Disputes"))
    _tab(page, "Accounts")
    expect(page).to_have_url(re.compile(r"\?tab=accounts$"))
    page.go_back()
    expect(page.get_by_role("tab", selected=True)).to_have_text(re.compile("^Disputes"))
    page.go_forward()
    expect(page.get_by_role("tab", selected=True)).to_have_text("Accounts")


def test_rows_are_ticked_and_a_dialog_names_what_happens_to_them(page: Page, entries: list[str]) -> None:
    tab = _tab(page, "Entries")
    bar = tab.locator(".vl-bulk")
    expect(bar).to_be_hidden()  # nothing is chosen
    tab.get_by_label("Tick all rows").check()
    expect(bar).to_contain_text("2 ticked")
    bar.get_by_role("button", name="Hide").click()
    dialog = tab.get_by_role("dialog", name="Hide")
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    expect(dialog).to_contain_text("off every public page")
    usual = dialog.get_by_label("Usual texts")
    usual.select_option(index=1)
    expect(dialog.get_by_label("Reason")).to_have_value(re.compile("^Under review"))
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(bar).to_contain_text("2 ticked")
    bar.get_by_role("button", name="Untick").click()
    expect(bar).to_be_hidden()


def test_fields_and_buttons_are_of_one_height_and_on_a_phone_all_tabs_are_seen(page: Page) -> None:
    controls = _tab(page, "Health").locator("button.md:visible, textarea:visible, .container > .wrap:visible")
    assert len({round(one.bounding_box()["height"]) for one in controls.all()}) == 1  # type: ignore[index]
    tab = _tab(page, "Labels")
    expect(tab.locator("#revisions")).to_contain_text("v1")
    wide = page.viewport_size
    assert wide is not None
    for width in (wide["width"], 390):
        page.set_viewport_size({"width": width, "height": wide["height"]})
        expect(page.locator("html")).to_have_js_property("scrollWidth", width)
        tabs = page.locator("[role=tab]:visible")
        expect(tabs).to_have_count(11)
        for one in tabs.all():
            expect(one).to_be_in_viewport(ratio=1)
    page.set_viewport_size(wide)


def test_an_entry_is_hidden_and_restored(page: Page, service: Service, entries: list[str]) -> None:
    tab = _tab(page, "Entries")
    tab.locator(f'tr[data-key="{entries[0]}"]').get_by_role("button", name="Show").click()
    expect(tab.locator("#entry")).to_contain_text("is on the board")
    _act(tab, entries[0], action="entries.hide", reason="<img src=x onerror=alert(1)>")
    expect(tab.locator("#entries-found-outcome")).to_contain_text("is hidden")
    until(lambda: entries[0] not in _board(service), 60, what="it is off the board")
    expect(tab.locator(f'tr[data-key="{entries[0]}"]')).to_contain_text("is hidden")
    _act(tab, entries[0], action="entries.restore", reason="a mistake")
    expect(tab.locator("#entries-found-outcome")).to_contain_text("is back")
    until(lambda: entries[0] in _board(service), 60, what="it is on the board again")


def test_submissions_are_paused_with_a_public_message_and_resumed(page: Page, service: Service) -> None:
    tab = _tab(page, "Health")
    tab.get_by_label("Message while submissions are paused").fill("Back at noon.")
    _press(tab, "Pause submissions")
    expect(tab.locator("#health")).to_contain_text("paused: Back at noon.")
    refused = service.http.post("/api/v1/submissions", files={"file": ("x.json", b"{}")}, data={"model": "Late"})
    assert (refused.status_code, "Back at noon." in refused.text) == (503, True)
    _press(tab, "Resume")
    expect(tab.locator("#health-said")).to_contain_text("open again")


def test_a_failed_job_is_tried_again_with_one_click(page: Page, service: Service, entries: list[str]) -> None:
    path = Path(service.log_path.with_suffix("")) / "leaderboard.db"
    with closing(sqlite3.connect(path, timeout=60)) as database, database:
        database.execute("DROP TRIGGER scores_no_delete")
        database.execute("DELETE FROM scores WHERE submission_id = ?", (entries[1],))
        database.execute(
            "UPDATE jobs SET state = 'failed', reason = 'a fault', attempts = 5, epoch = epoch + 5 "
            "WHERE submission_id = ? AND label_revision = 'v1'",
            (entries[1],),
        )
    tab = _tab(page, "Health")
    _press(tab, "Refresh")
    row = tab.locator("#failed-jobs tr[data-key]")
    expect(row).to_contain_text("a fault")
    row.get_by_role("button", name="Retry").click()
    tab.get_by_role("dialog", name="Retry").get_by_role("button", name="Retry").click()
    expect(tab.locator("#failed-jobs-outcome")).to_contain_text("waits to be tried")
    until(lambda: entries[1] in _board(service), 60, what="it is scored")


def test_reported_results_are_checked_imported_and_removed(page: Page, service: Service, tmp_path: Path) -> None:
    tab = _tab(page, "Reported")
    file = tmp_path / "results.csv"
    file.write_text("name,url,overall,macro\nA judge,https://a.example/paper,61.2,60.1\nB,,50,101\n")
    _choose(tab, file)
    tab.get_by_label("Reason", exact=True).locator("visible=true").fill("a survey")
    _press(tab, "Import")
    said = tab.locator("#reported-said")
    expect(said).to_contain_text("Nothing was imported: 2 problems.")
    expect(said).to_contain_text("Expected a number from 0 to 100")
    file.write_text("name,url,overall,macro\nA judge,https://a.example/paper,61.2,60.1\n")
    _choose(tab, file)
    _press(tab, "Check the file")
    expect(said).to_contain_text("1 row can be imported.")
    _press(tab, "Import")
    expect(said).to_contain_text("1 row imported.")
    expect(tab.locator("#reported")).to_contain_text("r-a-judge-")
    name = re.findall(r"r-a-judge-\w+", tab.locator("#reported").inner_text())[0]
    until(lambda: name in _board(service), 60, what="it is on the board")
    _act(tab, name, action="reported.remove", reason="retracted")
    expect(tab.locator("#reported")).to_contain_text("retracted")
    until(lambda: name not in _board(service), 60, what="it is off the board")


def test_the_database_is_copied_when_asked(page: Page) -> None:
    tab = _tab(page, "Health")
    _press(tab, "Back up now")
    expect(tab.locator("#health-said")).to_contain_text("copies the database")

    def copied() -> bool:
        _press(tab, "Refresh")
        return bool(re.search(r"leaderboard-\d{8}T\d{6}Z\.db\.gz", tab.locator("#health").inner_text()))

    until(copied, 60, what="the copy is listed")
