"""News by e-mail: nobody gets any who did not ask twice, and everybody can stop them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage
from functools import partial
from urllib.parse import unquote, urlsplit

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

import auth.pages
from auth import AuthError
from auth.settings import IdentitySettings
from leaderboard.site.render import account_pages
from leaderboard.site.render_context import RenderContext
from maintenance.actions import entries
from operation.mail_server import MailDelayed, MailServer, is_address
from storage import notifications
from storage.database import Database
from storage.jobs import leases
from storage.jobs.leases import LeaseLost, release_expired
from submissions.activity import ActivityRules
from submissions.notifications import pages as routes
from submissions.notifications.delivery import EmailDelivery
from submissions.notifications.subscriptions import EmailSubscriptions
from tests.databases import with_labels
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER, OWNER_OF_IT
from tests.factories.actions import by
from tests.factories.fakes.openid_provider import Provider
from tests.factories.fakes.smtp_server import MailBox, mail_server
from tests.factories.services.auth_site import PUBLIC_URL, AuthSite, Browser, query_of
from tests.factories.specs import DEMO
from web.actions import ACTIONS

ALICE = "alice@example.org"


class MailingSite(AuthSite):
    """The account pages with e-mail, whose server is `box`."""

    def __init__(self, settings: IdentitySettings, database: Database, *, provider: Provider, box: MailBox) -> None:
        self.box = box
        super().__init__(settings, database, provider=provider)
        rules = [ActivityRules(DEMO, ACTIONS.owner_sentences())]
        server = MailServer(box.url, "board@example.org")
        self.delivery = EmailDelivery(
            database, self.subscriptions, server=server, rules=rules, brand="Demo", name="web-1"
        )

    def _routes(self) -> FastAPI:
        self.subscriptions = EmailSubscriptions(self.database, self.identities.seal, site=PUBLIC_URL)
        pages = account_pages(RenderContext())
        app = FastAPI()
        sections = partial(routes.account_sections, self.subscriptions)
        app.include_router(
            auth.pages.build(self.identities, pages, sections=lambda user: {"notifications": sections(user)})
        )
        app.include_router(routes.build(pages, self.subscriptions))
        app.add_exception_handler(AuthError, auth.pages.refusals(self.identities, pages))
        return app

    def deliver(self) -> int:
        """Collect and send; return how many e-mails the server took."""
        self.delivery.collect()
        return self.delivery.send_due()

    def signed_in(self, user: str = "alice") -> Browser:
        browser = self.browser()
        browser.sign_in(user)
        return browser

    def asked(self, browser: Browser, address: str = ALICE) -> int:
        """State an address; return the status of the answer."""
        return browser.post("/account/email", {"address": address}).status_code

    def subscribed(self, user: str = "alice") -> tuple[Browser, str]:
        """Return a browser of somebody who has confirmed an address, and an entry of theirs."""
        browser = self.signed_in(user)
        assert self.asked(browser, f"{user}@example.org") == 303
        assert self.deliver() == 1
        assert self.confirmed(browser, self.box.emails[-1]) == 303
        ((account,),) = self.sql("SELECT id FROM accounts WHERE name = :name", name=user)
        (entry,) = small_benchmark.submit(self.database, range(1), owner=account)
        return browser, entry

    def confirmed(self, browser: Browser, email: EmailMessage) -> int:
        """Open the link of an e-mail and press its button."""
        link = urlsplit(link_in(email))
        page = browser.get(f"{link.path}?{link.query}")
        token = re.search(r'name="token" value="([^"]+)"', page.text)
        if token is None:
            return page.status_code
        return browser.post(link.path, {"token": token[1]}).status_code


def link_in(email: EmailMessage) -> str:
    found = re.search(rf"{PUBLIC_URL}/account/email/\S+", str(email.get_content()))
    assert found is not None
    return found[0]


@pytest.fixture
def box() -> Iterator[MailBox]:
    with mail_server() as running:
        yield running


@pytest.fixture
def mailing(settings: IdentitySettings, sqlite: Database, provider: Provider, box: MailBox) -> MailingSite:
    with_labels(sqlite)
    return MailingSite(replace(settings, maintainers=("bob",)), sqlite, provider=provider, box=box)


def test_nothing_but_the_request_goes_to_an_address_before_it_is_confirmed(mailing: MailingSite) -> None:
    browser = mailing.signed_in()
    assert mailing.asked(browser) == 303
    assert (mailing.deliver(), mailing.deliver()) == (1, 0)
    (email,) = mailing.box.emails
    assert email["To"] == ALICE and email["List-Unsubscribe"] is None and email["Auto-Submitted"] == "auto-generated"
    ((account,),) = mailing.sql("SELECT id FROM accounts")
    (entry,) = small_benchmark.submit(mailing.database, range(1), owner=account)
    entries.flag(by(mailing.database, MAINTAINER), entry, "before")
    assert mailing.deliver() == 0
    assert mailing.confirmed(browser, email) == 303
    assert mailing.deliver() == 0, "what happened before is not told"
    entries.hide(by(mailing.database, MAINTAINER), entry, "a complaint")
    assert (mailing.deliver(), mailing.deliver()) == (1, 0)
    news = mailing.box.emails[-1]
    text = str(news.get_content())
    assert "It was hidden: a complaint" in text and "before" not in text
    assert f"{PUBLIC_URL}/account/submissions/{entry}" in text
    assert news["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert {line.casefold() for line in mailing.box.recipients} == {f"rcpt to:<{ALICE}>"}


def test_an_address_of_somebody_else_is_not_confirmed_from_their_account(mailing: MailingSite) -> None:
    mallory, bob = mailing.signed_in("mallory"), mailing.signed_in("bob")
    assert mailing.asked(mallory, "bob@example.org") == 303
    mailing.deliver()
    assert mailing.confirmed(bob, mailing.box.emails[-1]) == 422
    assert mailing.sql("SELECT confirmed_at FROM email_subscriptions") == [(None,)]


def test_a_link_that_is_opened_without_sign_in_leads_back_after_it(mailing: MailingSite) -> None:
    assert mailing.asked(mailing.signed_in()) == 303
    mailing.deliver()
    link, later = urlsplit(link_in(mailing.box.emails[-1])), mailing.browser()
    asked = later.get(f"{link.path}?{link.query}")
    assert asked.status_code == 303
    answer = later.sign_in("alice", query_of(asked.headers["location"])["next"])
    assert unquote(answer.headers["location"]) == f"{link.path}?{link.query}"
    assert mailing.confirmed(later, mailing.box.emails[-1]) == 303


def test_looking_at_a_link_changes_nothing_and_a_forged_one_neither(mailing: MailingSite) -> None:
    browser, _ = mailing.subscribed()
    ((subscription,),) = mailing.sql("SELECT id FROM email_subscriptions")
    link = urlsplit(mailing.subscriptions.unsubscribe_link(subscription))
    anyone = TestClient(mailing.app, base_url=PUBLIC_URL)
    assert anyone.get(f"{link.path}?{link.query}").status_code == 200
    for forged in (f"id={subscription}&key={'0' * 64}", f"id={subscription}", "", f"{link.query}0"):
        assert anyone.post(f"{link.path}?{forged}").status_code == 422
    for token in ("", "x.y", "e30.e30", "é.é"):
        form = {"token": token}
        assert browser.post("/account/email/confirm", form).status_code == 422
    assert mailing.sql("SELECT count(*) FROM email_subscriptions") == [(1,)]


def test_one_click_stops_e_mails_without_sign_in_and_deletes_the_address(mailing: MailingSite) -> None:
    _, entry = mailing.subscribed()
    entries.flag(by(mailing.database, MAINTAINER), entry, "x")
    mailing.deliver()
    link = str(mailing.box.emails[-1]["List-Unsubscribe"]).strip("<>")
    program = TestClient(mailing.app, base_url=PUBLIC_URL)
    for _again in range(2):
        answer = program.post(link, content="List-Unsubscribe=One-Click")
        assert answer.status_code == 200
    entries.hide(by(mailing.database, MAINTAINER), entry, "x")
    assert mailing.deliver() == 0
    assert mailing.sql("SELECT count(*) FROM email_subscriptions") == [(0,)]


def test_news_that_wait_are_not_sent_after_a_stop(mailing: MailingSite) -> None:
    browser, entry = mailing.subscribed()
    entries.flag(by(mailing.database, MAINTAINER), entry, "x")
    assert mailing.delivery.collect() == 1
    assert browser.post("/account/email/stop").status_code == 303
    assert mailing.delivery.send_due() == 0 and len(mailing.box.emails) == 1


def test_ones_own_doings_are_no_news_and_an_address_stated_again_stays_confirmed(mailing: MailingSite) -> None:
    browser, entry = mailing.subscribed()
    ((account,),) = mailing.sql("SELECT id FROM accounts WHERE name = 'alice'")
    entries.withdraw(by(mailing.database, replace(OWNER_OF_IT, account=account)), entry, "a better one is coming")
    assert mailing.deliver() == 0
    assert mailing.asked(browser, ALICE) == 303
    entries.flag(by(mailing.database, MAINTAINER), entry, "x")
    assert mailing.deliver() == 1


def test_a_sender_that_dies_before_its_commit_sends_again_under_the_same_message_id(mailing: MailingSite) -> None:
    _, entry = mailing.subscribed()
    entries.flag(by(mailing.database, MAINTAINER), entry, "x")
    mailing.delivery.collect()
    with mailing.database.write() as session:
        dead = notifications.claim(session, "web-0", lease_seconds=60.0)
    assert dead is not None
    email = mailing.delivery.compose(dead)
    assert email is not None
    mailing.delivery.server.send(email)  # and then it is killed
    assert mailing.deliver() == 0, "its lease holds"
    mailing.sql("UPDATE queue SET lease_until = 1.0 WHERE state = 'running'")
    with mailing.database.write() as session:
        assert release_expired(session) == 1
    assert mailing.deliver() == 1
    first, second = mailing.box.emails[-2:]
    assert first["Message-ID"] == second["Message-ID"]
    with mailing.database.write() as session, pytest.raises(LeaseLost):
        leases.finish(session, dead, lines=[])
    assert mailing.deliver() == 0


def test_a_busy_mail_server_is_asked_again_later_and_a_refusal_is_final(mailing: MailingSite) -> None:
    browser, entry = mailing.subscribed()
    entries.flag(by(mailing.database, MAINTAINER), entry, "x")
    mailing.box.answers.append("451 later")
    assert (mailing.deliver(), mailing.deliver()) == (0, 0), "not before its time"
    mailing.sql("UPDATE queue SET due_at = 1.0 WHERE state = 'queued'")
    mailing.box.answers.append("550 no such user")
    assert mailing.deliver() == 0
    assert mailing.sql("SELECT outcome FROM queue WHERE queue = 'emails' AND state = 'failed'") == [
        ("the mail server answered 550",)
    ]
    assert "could not be delivered" in browser.get("/account").text
    assert mailing.deliver() == 0


def test_nobody_is_flooded_with_requests(mailing: MailingSite) -> None:
    browser = mailing.signed_in("mallory")
    assert [mailing.asked(browser, "Bob@example.org") for _ in range(4)] == [303, 303, 303, 422]
    other = mailing.signed_in("alice")
    assert mailing.asked(other, "bob@example.org") == 422, "another account asks for the same address"
    assert mailing.asked(other, ALICE) == 303


def test_the_address_is_in_no_table_in_plain_text_and_goes_with_the_account(mailing: MailingSite) -> None:
    assert mailing.asked(mailing.signed_in()) == 303
    stored = str(mailing.sql("SELECT * FROM email_subscriptions")) + str(mailing.sql("SELECT * FROM queue"))
    assert "alice@" not in stored
    mailing.sql("DELETE FROM sessions")
    mailing.sql("DELETE FROM accounts WHERE name = 'alice'")
    for table in ("email_subscriptions", "queue WHERE queue = 'emails'"):
        assert mailing.sql(f"SELECT count(*) FROM {table}") == [(0,)]


@pytest.mark.parametrize(
    "address", ["", "alice", "a@b\r\nBcc: c@d", "Alice <a@b.c>", "a@b,c@d", "a b@c.d", "a" * 251 + "@b.c"]
)
def test_what_is_no_address_is_refused(mailing: MailingSite, address: str) -> None:
    assert not is_address(address)
    assert mailing.asked(mailing.signed_in(), address) == 422


def test_a_name_adds_no_header(box: MailBox) -> None:
    server = MailServer(box.url, "board@example.org")
    subject = "news of x\r\nBcc: victim@example.org\n\nhello\u202e"
    server.send(server.message(ALICE, "1.x", subject=subject, body="body\r\n.\r\nMAIL FROM:<x>\r\n"))
    (email,) = box.emails
    assert email["Bcc"] is None and "\u202e" not in str(email["Subject"])
    assert str(email.get_content()).splitlines()[:2] == ["body", "."] and len(box.recipients) == 1
    with pytest.raises(ValueError, match="may not contain linefeed"):
        server.message("a@b\r\nBcc: c@d", "1.x", subject="s", body="b")


def test_a_server_elsewhere_must_encrypt(monkeypatch: pytest.MonkeyPatch, box: MailBox) -> None:
    monkeypatch.setattr("operation.mail_server.is_loopback", lambda host: False)
    server = MailServer(box.url, "board@example.org")
    with pytest.raises(MailDelayed):
        server.send(server.message(ALICE, "1.x", subject="s", body="b"))
    assert box.emails == []
