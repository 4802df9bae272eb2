"""Choice of tests, their order and process, and the browser that they use."""

from __future__ import annotations

import gc
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.nodeid import NodeId
from hypothesis import settings

from tests.factories.suite import after_failure
from tests.factories.suite.gradio_stubs import write_no_gradio_stubs
from tests.factories.suite.rewritten_tests import rewrite_once
from tests.factories.suite.shared_tls_context import share_tls_contexts

if TYPE_CHECKING:  # a browser's library is imported by the tests that use one
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).parent
PATIENCE = 60_000  # milliseconds that a page may take on a busy machine; Playwright's own is 5 s in places
# Pages are read, not looked at: fewer processes and threads that draw take a fifth of the processor's time away.
_LIGHT = (
    "--disable-software-rasterizer",
    "--in-process-gpu",
    "--num-raster-threads=1",
    "--disable-site-isolation-trials",
    "--disable-threaded-animation",
    "--js-flags=--no-sparkplug --no-maglev --no-turbofan",  # a page lives for a moment: to compile takes longer
)
# A test that fails on a busy machine says nothing, so there is no deadline. EXAMPLES=1000 makes property tests longer.
settings.register_profile("tests", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "25")))
settings.load_profile("tests")
# Files whose tests start processes or services, ask whole applications over HTTP, or work through whole boards, chains
# or files: not for the inner loop (`make unit`).
INTEGRATION = frozenset(
    [
        "auth/test_email_news.py",
        "auth/test_rate_limit.py",
        "auth/test_sessions.py",
        "auth/test_sign_in.py",
        "auth/test_tokens.py",
        "vlrb/editions/test_build.py",
        "vlrb/editions/test_edition.py",
        "vlrb/editions/test_filter.py",
        "vlrb/editions/test_import.py",
        "vlrb/editions/test_kill.py",
        "vlrb/editions/test_upload.py",
        "vlrb/judge/test_batch.py",
        "vlrb/judge/test_kill.py",
        "vlrb/judge/test_progress.py",
        "vlrb/judge/test_run.py",
        "vlrb/judge/test_scores.py",
        "leaderboard/pages/test_pages_routes.py",
        "leaderboard/pages/test_red_team.py",
        "leaderboard/share/test_routes.py",
        "leaderboard/share/test_share.py",
        "leaderboard/test_anonymity.py",
        "leaderboard/test_another_benchmark.py",
        "leaderboard/test_api.py",
        "leaderboard/test_best_of.py",
        "leaderboard/test_chance.py",
        "leaderboard/test_decisions.py",
        "leaderboard/test_declared_once.py",
        "leaderboard/test_disclosure.py",
        "leaderboard/test_judges_compare.py",
        "leaderboard/test_new_field.py",
        "leaderboard/test_reported_of_benchmarks.py",
        "leaderboard/test_routes.py",
        "leaderboard/test_secrets.py",
        "leaderboard/test_votes_of_a_baseline.py",
        "maintenance/test_api.py",
        "maintenance/test_audit.py",
        "maintenance/test_backups.py",
        "maintenance/test_commands.py",
        "maintenance/test_concurrency.py",
        "maintenance/test_decisions.py",
        "maintenance/test_disclosing.py",
        "maintenance/test_integrity.py",
        "maintenance/test_interfaces_agree.py",
        "maintenance/test_page.py",
        "maintenance/test_partial_rescore.py",
        "maintenance/test_quota_grants.py",
        "maintenance/test_rescoring.py",
        "maintenance/test_retry.py",
        "maintenance/test_scorer_version.py",
        "maintenance/test_space.py",
        "operation/test_database_restarts.py",
        "operation/test_first_start.py",
        "operation/test_metrics.py",
        "operation/test_receipt_key.py",
        "operation/test_restore.py",
        "operation/test_rolling_upgrade.py",
        "operation/test_status.py",
        "operation/test_topology.py",
        "operation/test_vanishing_disk.py",
        "vlrb/predictions/test_hostile.py",
        "vlrb/predictions/test_inspect_logs.py",
        "vlrb/predictions/test_readability.py",
        "vlrb/predictions/test_readers_real.py",
        "vlrb/predictions/test_sandbox.py",
        "receipts/test_service.py",
        "review/test_candidates.py",
        "review/test_commands_and_page.py",
        "review/test_errors_of_a_benchmark.py",
        "review/test_label_file.py",
        "review/test_projects.py",
        "review/test_web.py",
        "storage/test_first_release.py",
        "storage/test_queue_model.py",
        "submissions/test_api.py",
        "submissions/test_check_cli.py",
        "vlrb/client/test_service_commands.py",
        "submissions/test_confusables.py",
        "submissions/test_hub_model.py",
        "submissions/test_policy.py",
        "submissions/test_quota.py",
        "test_chinese_pages.py",
        "test_docs.py",
        "test_files_to_scores.py",
        "test_real_files.py",
        "test_routes.py",
        "web/test_gradio_allowlist.py",
        "web/test_request_limits.py",
        "workers/test_audit_checkpoint.py",
        "workers/test_benchmark_score.py",
        "workers/test_board_index.py",
        "workers/test_hub_labels.py",
        "workers/test_kill.py",
        "workers/test_labelled_pairs.py",
        "workers/test_main.py",
        "workers/test_pairwise_statistics.py",
        "workers/test_runner.py",
        "workers/test_several_benchmarks.py",
        "workers/test_two_benchmarks.py",
    ]
)
# Tests of that kind in files of others, and simulations that take seconds.
INTEGRATION_TESTS = frozenset(
    [
        "vlrb/common/test_command_line.py::test_every_command_of_every_program_has_chinese_help",
        "vlrb/test_demo.py::test_everything_is_made_in_well_under_two_seconds",
        "vlrb/test_demo.py::test_the_same_seed_gives_the_same_bytes_in_another_process",
        "vlrb/test_number_check.py::test_every_published_row_gets_an_answer_in_milliseconds",
        "vlrb/test_number_check.py::test_fits_and_fewest_dropped_items_are_those_of_an_exhaustive_search",
        "vlrb/test_number_check.py::test_what_is_called_impossible_has_no_solution_at_all",
        "vlrb/test_ranking.py::test_a_judge_rarely_differs_significantly_from_its_equals",
        "vlrb/test_ranking.py::test_the_best_of_many_equal_variants_beats_an_equal_rival_no_more_often_than_one_judge_would",
        "vlrb/test_selection.py::test_the_interval_of_the_best_of_twelve_covers_where_the_plain_one_does_not",
        "vlrb/test_uncertainty.py::test_importing_the_statistics_does_not_import_scipy",
        "vlrb/test_verdicts.py::test_random_texts_get_the_official_verdict",
        "common/test_logging_setup.py::test_a_message_is_the_name_of_an_event_and_what_it_is_about_is_in_its_fields",
        "leaderboard/test_charts.py::test_panels_fit_the_page_at_every_width",
        "leaderboard/test_opening.py::test_dots_stay_in_their_strip_however_many_there_are",
        "maintenance/test_item_texts.py::test_the_real_pairs_become_an_item_file_without_a_label",
        "maintenance/test_reported.py::test_imported_results_are_wherever_reported_ones_are_and_old_boards_stay",
        "vlrb/predictions/test_parse.py::test_the_revision_is_named_by_ids_where_the_items_are_the_same",
        "vlrb/predictions/test_readers.py::test_permuting_lines_and_keys_never_changes_votes",
        "vlrb/predictions/test_texts.py::test_it_comes_out_of_the_process_that_reads_files_and_is_no_part_of_the_report",
        "receipts/test_jws.py::test_checking_receipts_needs_neither_database_nor_pages",
        "vlrb/client/test_verify.py::test_the_program_says_it_in_words_without_network",
        "storage/test_audit.py::test_many_writers_make_one_chain_without_gaps",
        "storage/test_database.py::test_processes_may_migrate_at_the_same_time",
        "storage/test_series.py::test_a_board_of_yesterday_is_shown_with_its_own_relations",
        "storage/test_series.py::test_a_changed_difference_is_found_and_so_is_what_depends_on_it",
        "storage/test_series.py::test_every_snapshot_is_read_back_as_it_was_published",
        "storage/test_series.py::test_thinning_leaves_what_others_are_read_from",
        "submissions/test_service.py::test_copies_that_reach_several_processes_at_once_make_one_submission",
        "test_architecture.py::test_commands_load_their_libraries_where_an_interrupt_ends_them_quietly",
        "test_architecture.py::test_light_modules_load_nothing_heavy",
        "test_architecture.py::test_the_worker_loads_no_gradio",
        "test_processes.py::test_a_second_run_and_the_test_after_a_failed_one_share_nothing_with_it",
        "web/test_languages.py::test_a_cache_never_mixes_languages",
        "web/test_languages.py::test_a_front_page_is_rendered_beside_the_event_loop",
    ]
)
# What takes longest in processor time begins first, so that no process of xdist is left alone with it at the end.
LONGEST = (
    "test_app.py",
    "test_every_page.py",
    "leaderboard/test_board_browser.py",
    "test_hostile_service.py",
    "maintenance/test_stopped_worker.py",
    "test_journey.py",
    "test_sign_in.py",
    "submissions/test_unseen.py",
    "test_floods.py",
    "workers/test_kill.py",
    "maintenance/test_browser.py",
    "leaderboard/pages/test_pages_browser.py",
    "web/test_three_benchmarks_browser.py",
    "operation/test_vanishing_disk.py",
    "operation/test_topology.py",
    "operation/test_database_restarts.py",
    "maintenance/test_kill.py",
    "maintenance/test_rescoring.py",
    "maintenance/test_commands.py",
    "vlrb/editions/test_guide.py",
    "common/test_logging_setup.py",
    "submissions/test_quota.py",
    "test_routes.py",
    "leaderboard/test_secrets.py",
    "maintenance/test_concurrency.py",
    "maintenance/test_page.py",
    "leaderboard/test_gradio_page.py",
    "leaderboard/share/test_routes.py",
    "web/test_gradio_allowlist.py",
)
# Files, and single tests, whose rules both databases have to hold: the contract of storage, and races. In others SQLite
# states the rule. `--all-databases` and `make fault` run their twins too; test_hostile_service.py runs the whole
# service on PostgreSQL.
ON_BOTH_DATABASES = (
    "storage/",
    "auth/test_queries.py",
    "auth/test_sign_in.py",
    "maintenance/test_audit.py::test_a_byte_flipped_in_any_row_is_found_and_named",
    "maintenance/test_audit.py::test_a_date_that_was_changed_is_found_and_named_with_a_kept_head_too",
    "maintenance/test_audit.py::test_the_worker_keeps_one_head_a_day_that_the_chain_fits",
    "maintenance/test_backups.py",
    "maintenance/test_concurrency.py",
    "maintenance/test_entries.py::test_an_edit_shows_at_once_and_keeps_what_was",
    "maintenance/test_entries.py::test_edits_that_come_at_the_same_instant_pass_no_limit",
    "maintenance/test_entries.py::test_every_decision_made_twice_has_one_effect",
    "maintenance/test_entries.py::test_history_cannot_be_rewritten",
    "maintenance/test_entries.py::test_restoring_takes_back_one_thing_at_a_time_and_says_what_still_holds",
    "maintenance/test_entries.py::test_the_event_and_the_change_stand_and_fall_together",
    "maintenance/test_health.py",
    "maintenance/test_integrity.py",
    "maintenance/test_quota_grants.py",
    "maintenance/test_rescoring.py",
    "maintenance/test_tables.py",
    "operation/",
    "receipts/test_service.py::test_every_score_has_a_receipt_with_its_place_in_the_chain",
    "receipts/test_service.py::test_the_same_inputs_give_the_same_bytes_on_every_database",
    "review/test_tables.py",
    "submissions/test_confusables.py::test_a_removed_result_holds_no_name_any_more",
    "submissions/test_confusables.py::test_an_edit_and_a_submission_at_the_same_instant_do_not_both_get_the_name",
    "submissions/test_confusables.py::test_of_look_alikes_that_come_at_the_same_instant_one_is_taken",
    "submissions/test_confusables.py::test_the_same_name_at_the_same_instant_is_taken_from_everybody",
    "submissions/test_confusables.py::test_without_lining_up_both_would_be_taken",
    "submissions/test_quota.py",
    "submissions/test_service.py",
    "workers/test_audit_checkpoint.py",
    "workers/test_kill.py::test_a_worker_that_was_stopped_through_its_lease_is_refused_when_it_goes_on",
    "workers/test_rescore.py",
    "workers/test_runner.py",
    "workers/test_score.py",
)
ALL_ROWS = "AXE_ALL_ROWS"  # axe looks at every row of a table; tests/factories/services/axe.py
_TWIN = re.compile(r"[\[-]postgresql[-\]]")
# The first is Chromium without windows and menus: to open a page takes it half of the processor's time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
NOT_UNIT = ("integration", "slow", "browser", "postgres")
# A file that says of all its tests that they are of these kinds.
_MARKED_AS_A_WHOLE = re.compile(
    rf"^(pytestmark = [^=]*pytest\.mark\.({'|'.join(NOT_UNIT)})\b|.* import pytestmark)", re.M
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this suite."""
    parser.addoption("--unit", action="store_true", help="only tests that start no process, browser or PostgreSQL")
    parser.addoption("--all-databases", action="store_true", help="each test that can on PostgreSQL too")
    parser.addoption("--long", action="store_true", help="the tests marked long too")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the tests of `--unit` by their marks, unless others are asked for; import Gradio without its stubs; have a
    failed test leave no shared fixtures behind."""
    write_no_gradio_stubs()
    config.pluginmanager.register(after_failure)
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        rewrite_once(config, ROOT)
    else:
        gc.disable()  # until everything is imported and collected: little of that is ever thrown away
    if config.getoption("--long"):
        os.environ[ALL_ROWS] = "1"
    if config.getoption("--unit") and not config.option.markexpr:
        config.option.markexpr = f"not ({' or '.join(NOT_UNIT)})"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Under `--unit`, do not even import what such a test file needs (Gradio, a browser's library)."""
    if not config.getoption("--unit") or not collection_path.name.startswith("test_"):
        return None
    listed = collection_path.relative_to(ROOT).as_posix() in INTEGRATION
    return listed or bool(_MARKED_AS_A_WHOLE.search(collection_path.read_text(encoding="utf-8"))) or None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Search rarely for garbage, and never in what is imported and collected; have databases share compiled SQL,
    applications the validators of their parameters, clients TLS settings and an event loop; make one application of
    Gradio's pages, and compress pages quickly."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)
    gc.enable()
    share_tls_contexts()
    if "storage.database" in sys.modules:
        from tests.factories.suite.compiled_statements import share_compiled_statements

        share_compiled_statements()
    if "fastapi.routing" in sys.modules:
        from tests.factories.suite.shared_type_adapters import share_type_adapters

        share_type_adapters()
    if "starlette.testclient" in sys.modules:
        from tests.factories.suite.shared_event_loop import share_event_loop

        share_event_loop()
    if "gradio.blocks" in sys.modules:
        from tests.factories.suite.mounted_gradio import make_one_application

        make_one_application()
    if "leaderboard.cache" in sys.modules:
        from tests.factories.suite.quick_compression import compress_quickly

        compress_quickly()


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests of `INTEGRATION`, put what shares fixtures into one process, and the longest first, then browsers.

    In CI, a test of processes, browsers or PostgreSQL may fail once; the summary names it.
    """
    left_out = [item for item in items if _is_left_out(config, item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not _is_left_out(config, item)]
    grouped = config.getoption("loadgroup", False)  # set by pytest-xdist in its processes
    places = {path: place for place, path in enumerate(LONGEST)}
    for item in items:
        path = item.path.relative_to(ROOT).as_posix()
        if path in INTEGRATION or f"{path}::{item.name.partition('[')[0]}" in INTEGRATION_TESTS:
            item.add_marker(pytest.mark.integration)
        if grouped and _shares_a_process(item):
            put_into_group(item, path)
        if os.environ.get("CI") and any(item.get_closest_marker(mark) for mark in NOT_UNIT):
            item.add_marker(pytest.mark.flaky(reruns=1))
    browsing = {item.path for item in items if item.get_closest_marker("browser")}  # consecutive ones share a browser
    items.sort(
        key=lambda item: (places.get(item.path.relative_to(ROOT).as_posix(), len(places)), item.path not in browsing)
    )


def put_into_group(item: pytest.Item, group: str) -> None:
    """Have pytest-xdist run a test in the same process as all others of its group.

    The scheduler reads the group behind the "@" of a test's id. pytest-xdist 3.8 writes it where pytest 9.2 no longer
    reads: without the second line, every process sets up the shared fixtures of every file anew.
    """
    item.add_marker(pytest.mark.xdist_group(group))
    item._id = NodeId.parse(f"{item.nodeid}@{group}")


def _is_left_out(config: pytest.Config, item: pytest.Item) -> bool:
    long = item.get_closest_marker("long") is not None and not config.getoption("--long")
    return long or (_is_spare_twin(item) and not config.getoption("--all-databases"))


def _is_spare_twin(item: pytest.Item) -> bool:
    """Return whether a test runs on SQLite too, which is enough for its rule."""
    named = f"{item.path.relative_to(ROOT).as_posix()}::{item.name.partition('[')[0]}"
    return _TWIN.search(item.name) is not None and not named.startswith(ON_BOTH_DATABASES)


def _shares_a_process(item: pytest.Item) -> bool:
    """Return whether a test belongs with its file; a slow one that shares no fixture with others stands for itself."""
    if item.get_closest_marker("slow") is None or "browser" in getattr(item, "fixturenames", ()):
        return True
    definitions = item._fixtureinfo.name2fixturedefs.values()  # type: ignore[attr-defined]
    return any(definition[-1].scope in ("module", "package") for definition in definitions)


@dataclass
class _BrowserProcess:
    """The browser of this process: consecutive files use the same one."""

    running: ExitStack = field(default_factory=ExitStack)
    browser: Browser | None = None
    used_by: Path | None = None

    def get(self) -> Browser:
        """Return it, started if it does not run."""
        if self.browser is None:
            self.browser = self.running.enter_context(_chromium_process())
        return self.browser

    def close(self) -> None:
        """Stop it, if it runs."""
        self.browser = None
        self.running.close()


_BROWSER = pytest.StashKey[_BrowserProcess]()


@contextmanager
def _chromium_process() -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", *_LIGHT]
    with sync_playwright() as engine:
        started = engine.chromium.launch(executable_path=chromium(), args=flags)
        started.on("context", lambda context: context.set_default_timeout(PATIENCE))
        yield started
        started.close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Close the browser before a file that needs none: while it runs, no test can run an event loop of its own."""
    process = item.config.stash.setdefault(_BROWSER, _BrowserProcess())
    if "browser" in getattr(item, "fixturenames", ()):
        process.used_by = item.path
    elif item.path != process.used_by:
        process.close()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the browser of this process."""
    config.stash.get(_BROWSER, _BrowserProcess()).close()


def chromium() -> str | None:
    """Return the system's Chromium; Playwright downloads none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def long(pytestconfig: pytest.Config) -> bool:
    """Return whether rules are held in their long form."""
    return bool(pytestconfig.getoption("--long"))


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Browser:
    """Return a browser; contexts of it are a test's own."""
    if chromium() is None:
        reason = "needs Chromium: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return request.config.stash[_BROWSER].get()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    found = browser.new_context()
    yield found
    found.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()
