"""Webhooks: signed messages about one's own entries, to public addresses alone, until they fail for too long."""

from __future__ import annotations

import json
import logging
import re
import socket
import time
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

import auth.routes
import submissions.pages
from auth import AuthError
from auth.pages import AccountPages
from auth.settings import IdentitySettings
from maintenance.actions import entries
from operation.webhook_sender import DeliveryFailed, WebhookSender, is_public, new_secret, parse_url, signature
from storage import webhooks
from storage.database import Database
from submissions.activity import ActivityRules
from submissions.notifications import routes
from submissions.notifications.webhook_delivery import WebhookDelivery
from submissions.notifications.webhooks import WebhookSubscriptions
from tests.databases import with_labels
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.fakes.openid_provider import Provider
from tests.factories.fakes.webhook_receiver import Receiver, webhook_receiver
from tests.factories.services.auth_site import PUBLIC_URL, AuthSite, Browser
from tests.factories.specs import DEMO
from web.actions import ACTIONS

EVENTS = ("scored", "failed", "moderated", "rescored")
EXAMPLE = Path(__file__).parents[2] / "docs" / "submitting.md"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class HookSite(AuthSite):
    """The account pages with webhooks, which may lead to `receiver` on this machine."""

    def __init__(
        self, settings: IdentitySettings, database: Database, *, provider: Provider, receiver: Receiver
    ) -> None:
        self.receiver = receiver
        super().__init__(settings, database, provider=provider)
        rules = [ActivityRules(DEMO, ACTIONS.owner_sentences())]
        sender = WebhookSender(lambda address: True, receiver.trust)
        self.delivery = WebhookDelivery(
            database, self.subscriptions, sender=sender, rules=rules, site=PUBLIC_URL, name="web-1"
        )

    def _routes(self) -> FastAPI:
        self.subscriptions = WebhookSubscriptions(self.database, self.identities.seal)
        pages = AccountPages(folders=[submissions.pages.TEMPLATES])
        app = FastAPI()
        sections = lambda user: routes.account_sections(None, self.subscriptions, user)  # noqa: E731
        app.include_router(auth.routes.build(self.identities, pages, notifications=sections))
        app.include_router(routes.build_webhooks(self.identities, pages, webhooks=self.subscriptions))
        app.add_exception_handler(AuthError, auth.routes.refusals(self.identities, pages))
        return app

    def deliver(self) -> int:
        """Collect and send, without waiting for the next attempt; return how many messages were taken."""
        self.sql("UPDATE outgoing_webhooks SET due_at = 1.0 WHERE state = 'queued'")
        self.delivery.collect()
        return self.delivery.send_due()

    def state(self, browser: Browser, address: str, *events: str) -> Any:
        """Save the form of the account page."""
        form = {"csrf": browser.csrf(), "address": address, "events": list(events or EVENTS)}
        return browser.post("/account/webhook", form)

    def subscribed(self) -> tuple[Browser, str, str]:
        """Return a browser of alice, whose webhook is the receiver, its secret, and an entry of hers."""
        browser = self.browser()
        browser.sign_in("alice")
        page = self.state(browser, self.receiver.url)
        secret = re.search(r"whsec_[\w+/=]+", page.text)
        assert secret is not None, page.text
        ((account,),) = self.sql("SELECT id FROM accounts WHERE name = 'alice'")
        (entry,) = small_benchmark.submit(self.database, range(1), owner=account)
        return browser, secret[0], entry

    def flag(self, entry: str, why: str = "x") -> None:
        """Have something happen to an entry."""
        entries.flag(by(self.database, MAINTAINER), entry, why)


@pytest.fixture(scope="module")
def _receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    with webhook_receiver(tmp_path_factory.mktemp("receiver")) as running:
        yield running


@pytest.fixture
def receiver(_receiver: Receiver) -> Receiver:
    _receiver.messages, _receiver.answers, _receiver.drip = [], [], 0.0
    return _receiver


@pytest.fixture
def hooks(settings: IdentitySettings, sqlite: Database, provider: Provider, receiver: Receiver) -> HookSite:
    with_labels(sqlite)
    return HookSite(settings, sqlite, provider=provider, receiver=receiver)


def test_a_message_says_what_happened_and_the_documented_example_verifies_it(hooks: HookSite) -> None:
    _, secret, entry = hooks.subscribed()
    hooks.flag(entry, "trained on pairs")
    assert (hooks.deliver(), hooks.deliver()) == (1, 0)
    (message,) = hooks.receiver.messages
    told = json.loads(message.body)
    assert (message.path, told["type"]) == ("/hook?of=alice", "entry.moderated")
    assert told["data"]["event"] == "entry.flagged"
    assert told["data"]["sentence"].endswith("public note: trained on pairs")
    assert told["data"]["url"] == f"{PUBLIC_URL}/account/submissions/{entry}"
    example = next(one for one in re.findall(r"```python\n(.*?)```", EXAMPLE.read_text(), re.S) if "webhook-" in one)
    given: dict[str, Any] = {}
    exec(example, given)
    assert given["is_ours"](secret, message.headers, message.body)
    assert not given["is_ours"](secret, message.headers, message.body + b" ")
    assert not given["is_ours"](new_secret(), message.headers, message.body)
    late = {**message.headers, "webhook-timestamp": str(int(message.headers["webhook-timestamp"]) - 1000)}
    assert not given["is_ours"](secret, late, message.body)


def test_a_signature_is_that_of_the_specification() -> None:
    """The vector that libraries of Standard Webhooks test with."""
    signed = signature(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp=1614265330, body=b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_secret_is_shown_once_and_a_new_address_gets_another(hooks: HookSite) -> None:
    browser, secret, _ = hooks.subscribed()
    assert secret not in browser.get("/account").text
    assert hooks.state(browser, hooks.receiver.url, "scored").status_code == 303, "the same address keeps its secret"
    assert hooks.subscriptions.secret(_stored(hooks)) == secret
    again = hooks.state(browser, hooks.receiver.url + "2")
    assert "whsec_" in again.text and secret not in again.text


def _stored(hooks: HookSite) -> webhooks.StoredWebhook:
    ((account,),) = hooks.sql("SELECT account FROM webhooks")
    with hooks.database.read() as session:
        stored = webhooks.webhook(session, account)
    assert stored is not None
    return stored


def test_address_and_secret_are_in_no_table_and_no_log_and_go_with_the_account(
    hooks: HookSite, caplog: pytest.LogCaptureFixture
) -> None:
    _, secret, entry = hooks.subscribed()
    hooks.receiver.answers = [500]
    hooks.flag(entry)
    with caplog.at_level(logging.DEBUG):
        assert hooks.deliver() == 0
    tables = ("webhooks", "outgoing_webhooks", "events")
    everything = "".join(str(hooks.sql(f"SELECT * FROM {table}")) for table in tables) + caplog.text
    everything += "".join(str(vars(record)) for record in caplog.records)
    assert "webhook.not_sent" in everything and "status-500" in everything
    assert "/hook" not in everything and "localhost" not in everything and secret not in everything
    hooks.sql("DELETE FROM sessions")
    hooks.sql("DELETE FROM accounts WHERE name = 'alice'")
    assert [hooks.sql(f"SELECT count(*) FROM {table}") for table in tables[:2]] == [[(0,)], [(0,)]]


def test_many_failures_switch_a_webhook_off_and_saving_it_switches_it_on(hooks: HookSite) -> None:
    browser, _, entry = hooks.subscribed()
    hooks.receiver.answers = [503] * webhooks.MOST_FAILURES
    for number in range(3):
        hooks.flag(entry, f"note {number}")
    for _attempt in range(webhooks.MOST_FAILURES):
        assert hooks.deliver() == 0
    assert len(hooks.receiver.messages) == webhooks.MOST_FAILURES, "one attempt a turn, whatever waits"
    assert len({message.headers["webhook-id"] for message in hooks.receiver.messages}) == 2
    page = browser.get("/account").text
    assert "webhook is switched off" in page and "answered with status 503" in page
    hooks.flag(entry, "while it was off")
    assert hooks.deliver() == 0
    assert hooks.state(browser, hooks.receiver.url).status_code == 303
    assert hooks.deliver() == 0, "news of before are not sent"
    hooks.flag(entry, "after it")
    assert hooks.deliver() == 1
    assert "was delivered at" in browser.get("/account").text


def test_a_receiver_that_is_gone_is_asked_no_more(hooks: HookSite) -> None:
    browser, _, entry = hooks.subscribed()
    hooks.receiver.answers = [410]
    hooks.flag(entry)
    assert (hooks.deliver(), hooks.deliver()) == (0, 0)
    assert len(hooks.receiver.messages) == 1
    assert "webhook is switched off" in browser.get("/account").text


def test_a_test_is_sent_once_counts_as_no_failure_and_is_bounded(hooks: HookSite) -> None:
    browser, _, _ = hooks.subscribed()
    hooks.receiver.answers = [404]
    assert _ask_for_test(browser) == 303
    assert "is on its way" in browser.get("/account").text
    assert (hooks.deliver(), hooks.deliver()) == (0, 0)
    assert "answered with status 404" in browser.get("/account").text
    assert hooks.sql("SELECT failures FROM webhooks") == [(0,)]
    assert [_ask_for_test(browser) for _ in range(10)] == [303] * 9 + [422]
    assert hooks.deliver() == 9
    assert json.loads(hooks.receiver.messages[-1].body)["type"] == "webhook.test"


def _ask_for_test(browser: Browser) -> int:
    return browser.post("/account/webhook/test", {"csrf": browser.csrf()}).status_code


def test_after_a_stop_nothing_is_sent_that_waits(hooks: HookSite) -> None:
    browser, _, entry = hooks.subscribed()
    hooks.flag(entry)
    assert hooks.delivery.collect() == 1
    _ask_for_test(browser)
    assert browser.post("/account/webhook/stop", {"csrf": browser.csrf()}).status_code == 303
    assert hooks.deliver() == 0 and hooks.receiver.messages == []


def test_nothing_is_sent_for_an_account_that_is_banned(hooks: HookSite) -> None:
    _, _, entry = hooks.subscribed()
    hooks.flag(entry)
    assert hooks.delivery.collect() == 1
    hooks.sql("UPDATE accounts SET banned_at = 1.0")
    hooks.flag(entry, "again")
    assert hooks.deliver() == 0 and hooks.receiver.messages == []


def test_a_sender_that_dies_is_followed_by_one_that_sends_under_the_same_id(hooks: HookSite) -> None:
    _, _, entry = hooks.subscribed()
    hooks.flag(entry)
    hooks.delivery.collect()
    with hooks.database.write() as session:
        dead = webhooks.claim(session, "web-0", lease_seconds=60.0)
    assert dead is not None and hooks.deliver() == 0, "its lease holds"
    hooks.sql("UPDATE outgoing_webhooks SET lease_until = 1.0")
    assert hooks.delivery.release_expired() == 1
    assert hooks.deliver() == 1
    assert hooks.receiver.messages[0].headers["webhook-id"] == dead.message_id


def test_forms_of_other_sessions_change_nothing(hooks: HookSite) -> None:
    _, _, _ = hooks.subscribed()
    mallory = hooks.browser()
    mallory.sign_in("mallory")
    for path in ("", "/test", "/stop"):
        form = {"csrf": "0" * 64, "address": "https://mallory.example/", "events": ["scored"]}
        assert mallory.post(f"/account/webhook{path}", form).status_code == 403
    assert _ask_for_test(mallory) == 422
    assert hooks.sql("SELECT count(*) FROM webhooks") == [(1,)]


UNUSABLE = (
    "",
    "http://example.org/",
    "ftp://example.org/",
    "https://",
    "https://user:secret@example.org/",
    "https://example.org/#part",
    "https://example.org:22/",
    "https://example.org:99999/",
    "https://example.org/a b",
    "https://example.org/\r\nx: y",
    "https://exämple.org/",
    "https://example.org/" + "a" * 500,
)


def test_what_is_no_https_address_is_refused() -> None:
    assert [address for address in UNUSABLE if _is_usable(address)] == []
    assert _is_usable("https://example.org:8443/hook?of=alice") and _is_usable("https://[2606:4700::1111]/")


def _is_usable(address: str) -> bool:
    try:
        parse_url(address)
    except ValueError:
        return False
    return True


def test_an_address_that_is_refused_leaves_things_as_they_were(hooks: HookSite) -> None:
    browser, secret, _ = hooks.subscribed()
    assert hooks.state(browser, "http://example.org/").status_code == 422
    form = {"csrf": browser.csrf(), "address": "https://example.org/", "events": []}
    assert browser.post("/account/webhook", form).status_code == 422
    assert hooks.subscriptions.secret(_stored(hooks)) == secret


PRIVATE = (
    "127.0.0.1 0.0.0.0 10.0.0.1 172.16.0.1 192.168.1.1 100.64.0.1 169.254.169.254 100.100.100.200 192.0.0.192 "
    "168.63.129.16 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 ::1 :: fe80::1 fe80::1%lo fd00:ec2::254 ff02::1 "
    "fec0::1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 2002:7f00:1:: 2001:0:1::1"
)


PUBLIC = ("8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808")


def test_addresses_of_this_machine_its_network_and_its_platform_are_not_public() -> None:
    assert [address for address in PRIVATE.split() if is_public(ip_address(address))] == []


def test_control_addresses_of_the_internet_are_public() -> None:
    assert [address for address in PUBLIC if is_public(ip_address(address))] == list(PUBLIC)


def test_a_name_that_leads_to_this_machine_is_never_connected_to(receiver: Receiver) -> None:
    port, sender = parse_url(receiver.url).port, WebhookSender(trust=receiver.trust)
    for host in ("localhost", "127.0.0.1", "[::1]", "0x7f.1", "2130706433", "127.1"):
        with pytest.raises(DeliveryFailed, match=r"not-public|unreachable"):
            sender.send(f"https://{host}:{port}/", SECRET, message_id="msg_1", body=b"{}")
    assert receiver.messages == []


def test_one_private_address_among_public_ones_is_enough_to_refuse(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **more: places)
    monkeypatch.setattr(socket, "create_connection", lambda *args, **more: pytest.fail("it connected"))
    with pytest.raises(DeliveryFailed, match="not-public"):
        WebhookSender().send("https://rebinding.example/", SECRET, message_id="msg_1", body=b"{}")


def test_a_name_is_resolved_once_and_what_was_checked_is_connected_to(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    resolve = socket.getaddrinfo

    def note(host: str, *args: Any, **more: Any) -> Any:
        asked.append(host)
        return resolve(host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", note)
    checked: list[str] = []
    WebhookSender(lambda address: not checked.append(str(address)), receiver.trust).send(
        receiver.url, SECRET, message_id="msg_1", body=b"{}"
    )
    assert asked.count("localhost") == 1 and set(asked) - {"localhost"} <= set(checked)
    assert len(receiver.messages) == 1


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    receiver.answers = [307]
    with pytest.raises(DeliveryFailed, match="status-307"):
        _send(receiver)
    assert len(receiver.messages) == 1


def test_a_receiver_that_sends_octet_by_octet_is_cut_off(receiver: Receiver) -> None:
    receiver.drip = 0.05
    began = time.monotonic()
    with pytest.raises(DeliveryFailed, match="timeout"):
        _send(receiver, seconds=0.3)
    receiver.drip = 0.0
    assert time.monotonic() - began < 20


def test_a_certificate_that_nobody_vouches_for_is_refused(receiver: Receiver) -> None:
    with pytest.raises(DeliveryFailed, match="certificate"):
        WebhookSender(lambda address: True).send(receiver.url, SECRET, message_id="msg_1", body=b"{}")
    assert receiver.messages == []


def _send(receiver: Receiver, **more: Any) -> None:
    WebhookSender(lambda address: True, receiver.trust, **more).send(
        receiver.url, SECRET, message_id="msg_1", body=b"{}"
    )
