"""Accounts: maintainers find them, and name them by id or by user name wherever an account is named."""

from __future__ import annotations

import pytest

from auth import LOCAL, Forbidden
from auth.settings import IdentitySettings, Mode
from maintenance.actions import accounts, entries
from maintenance.types import Conflict, NotFound
from maintenance.view import terminal
from storage.database import Database
from storage.models.core import Account, RoleBinding, Submission
from tests.databases import an_account, with_labels
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER, OWNER_OF_THE_SERVICE
from tests.factories.actions import by
from tests.factories.refusals import refuses

SETTINGS = IdentitySettings(
    Mode.OPENID,
    public_url="https://board.example",
    client_id="x",
    session_secrets=("Qm8fXo2nT4sVb7Zc1Kd9Lw3Rj6Hy5Gp0AeUiBtNx",),
    maintainers=("root", "sub:4"),
    owners=("sub:3",),
)


def _sign_up(database: Database, account: str, name: str, subject: str, *organisations: str) -> None:
    teams = [{"id": one, "name": one, "role": "admin"} for one in organisations]
    about = {"subject": subject, "name": name, "organisations": teams, "last_seen_at": float(subject)}
    with database.write() as session:
        session.add(an_account(account, **about))


def test_nobody_yet_and_nobody_like_that_are_two_things(database: Database) -> None:
    with_labels(database)
    said = [
        terminal(accounts.listing.view(accounts.listing(by(database, MAINTAINER, identity=None), text)))
        for text in ("", " ", "bob")
    ]
    assert ["Nobody" in one for one in said] == [True, True, False]
    assert ["No account" in one for one in said] == [False, False, True]


@pytest.fixture
def signed_up(database: Database) -> Database:
    with_labels(database)
    _sign_up(database, "abob00000000", "bob", "1")
    _sign_up(database, "aroot0000000", "Root", "2")
    _sign_up(database, "aowner000000", "100%", "3")
    _sign_up(database, "alab00000000", "lab-admin", "4", "lab")
    with database.write() as session:
        about = {"issuer": "https://id.example", "name": "root", "account_id": "aroot0000000"}
        session.add(RoleBinding(**about))
    return database


def test_an_account_is_found_by_id_or_user_name_and_never_guessed(signed_up: Database) -> None:
    with signed_up.read() as session:
        for named in ("abob00000000", "bob", " Bob "):
            assert accounts.find(session, named).id == "abob00000000"
        for named in ("", "bo", "b%b"):
            with refuses(NotFound, "not-found"):
                accounts.find(session, named)
        assert accounts.find(session, "local").id == "local"


def test_a_name_that_two_accounts_have_names_both_ids_and_an_id_is_never_taken_for_a_name(signed_up: Database) -> None:
    _sign_up(signed_up, "abob11111111", "BOB", "5")
    _sign_up(signed_up, "aevil0000000", "abob00000000", "6")
    with signed_up.read() as session:
        with refuses(Conflict, "ambiguous-account"):
            accounts.find(session, "bob")
        assert accounts.find(session, "abob00000000").name == "bob"


def test_bans_and_transfers_take_user_names(signed_up: Database) -> None:
    (entry,) = small_benchmark.submit(signed_up, range(1), owner="aroot0000000")
    assert "100% (aowner000000)" in accounts.ban(by(signed_up, MAINTAINER, identity=None), "100%", "because").message
    assert "belongs to bob (abob00000000)" in entries.transfer(by(signed_up, MAINTAINER), entry, "BOB", "left").message
    with signed_up.read() as session:
        assert session.get_one(Submission, entry).owner == "abob00000000"
        assert session.get_one(Account, "aowner000000").banned_at is not None
    for use in (
        lambda: accounts.ban(by(signed_up, MAINTAINER, identity=None), "nobody", "because"),
        lambda: entries.transfer(by(signed_up, MAINTAINER), entry, "nobody", "because"),
    ):
        with pytest.raises(NotFound):
            use()


@pytest.mark.parametrize("named", ["100%", "Root", "lab-admin"])
def test_only_owners_banned_maintainers_and_owners_or_let_them_in_again(signed_up: Database, named: str) -> None:
    for use_case in (accounts.ban, accounts.unban):
        with refuses(Forbidden, "not-allowed"):
            use_case(by(signed_up, MAINTAINER, identity=SETTINGS), named, "because")
        assert use_case(by(signed_up, OWNER_OF_THE_SERVICE, identity=SETTINGS), named, "because").changed
    assert accounts.ban(by(signed_up, MAINTAINER, identity=SETTINGS), "bob", "because").changed


def test_the_list_tells_roles_bans_and_submissions_the_last_seen_first(signed_up: Database) -> None:
    small_benchmark.submit(signed_up, range(2), owner="abob00000000")
    accounts.ban(by(signed_up, MAINTAINER, identity=None), "bob", "because")
    found = accounts.listing(by(signed_up, MAINTAINER, identity=SETTINGS))
    assert [(one.name, one.role, one.submissions, one.banned_at is not None) for one in found.accounts] == [
        ("lab-admin", "maintainer", 0, False),
        ("100%", "owner", 0, False),
        ("Root", "maintainer", 0, False),
        ("bob", "submitter", 2, True),
    ]
    assert found.number == 4
    assert {one.role for one in accounts.listing(by(signed_up, MAINTAINER, identity=None)).accounts} == {None}


def test_what_somebody_asked_for_is_shown_with_their_name(signed_up: Database) -> None:
    assert accounts.names(by(signed_up, MAINTAINER), ["abob00000000", "local"]) == {"abob00000000": "bob"}


def test_the_search_is_for_a_part_of_name_or_id_as_text(signed_up: Database) -> None:
    for text, names in (("BO", ["bob"]), ("alab", ["lab-admin"]), ("%", ["100%"]), ("_", []), ("x", [])):
        found = accounts.listing(by(signed_up, MAINTAINER, identity=SETTINGS), text)
        assert ([one.name for one in found.accounts], found.number) == (names, len(names)), text


def test_the_account_local_is_known_and_cannot_be_banned(database: Database) -> None:
    for user, code in ((LOCAL, "yourself"), (MAINTAINER, "local")):
        with refuses(Conflict, code) as refused:
            accounts.ban(by(database, user, identity=None), "local", "because")
        assert str(refused.value).startswith("local is everyone")
