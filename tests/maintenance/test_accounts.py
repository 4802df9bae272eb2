"""Accounts: maintainers find them, and name them by id or by user name wherever an account is named."""

from __future__ import annotations

import pytest

from identity import LOCAL, NotAllowed
from identity.settings import IdentitySettings, Mode
from maintenance import allowances, entries, markup, people, reports
from maintenance.accounts import directory
from maintenance.values import NotFound, NotPossible
from storage import grants
from storage.database import Database
from storage.tables import Account, RoleName, Submission
from tests.databases import with_labels
from tests.maintenance.people import MAINTAINER, OWNER_OF_THE_SERVICE, STRANGER
from tests.workers import invented

SETTINGS = IdentitySettings(
    Mode.OPENID,
    public_url="https://board.example",
    client_id="x",
    session_secrets=("Qm8fXo2nT4sVb7Zc1Kd9Lw3Rj6Hy5Gp0AeUiBtNx",),
    maintainers=("root",),
    owners=("sub:3",),
    maintainer_org="lab",
)


def _sign_up(database: Database, account: str, name: str, subject: str, *organisations: str) -> None:
    times = dict.fromkeys(("confirmed_at", "first_seen_at"), 1.0)
    teams = [{"id": one, "name": one, "role": "admin"} for one in organisations]
    about = {"issuer": "https://id.example", "subject": subject, "name": name, "organisations": teams}
    with database.write() as session:
        session.add(Account(id=account, **about, **times, last_seen_at=float(subject)))


def test_nobody_yet_and_nobody_like_that_are_two_things(database: Database) -> None:
    with_labels(database)
    said = [reports.accounts(directory.listing(database, MAINTAINER, "demo", None, text)) for text in ("", " ", "bob")]
    assert said == ["Nobody has signed in yet."] * 2 + ["Nobody like that has signed in."]


@pytest.fixture
def signed_up(database: Database) -> Database:
    with_labels(database)
    _sign_up(database, "abob00000000", "bob", "1")
    _sign_up(database, "aroot0000000", "Root", "2")
    _sign_up(database, "aowner000000", "100%", "3")
    _sign_up(database, "alab00000000", "lab-admin", "4", "lab")
    with database.write() as session:
        about = {"issuer": "https://id.example", "name": "root", "account_id": "aroot0000000"}
        session.add(RoleName(**about, bound_at=1.0))
    return database


def test_an_account_is_found_by_id_or_user_name_and_never_guessed(signed_up: Database) -> None:
    with signed_up.read() as session:
        for named in ("abob00000000", "bob", " Bob "):
            assert directory.find(session, named).id == "abob00000000"
        for named in ("", "bo", "b%b", "local"):
            with pytest.raises(NotFound, match="no account with the id or the user name"):
                directory.find(session, named)
        assert directory.find(session, "local", local=True).id == "local"


def test_a_name_that_two_accounts_have_names_both_ids_and_an_id_is_never_taken_for_a_name(signed_up: Database) -> None:
    _sign_up(signed_up, "abob11111111", "BOB", "5")
    _sign_up(signed_up, "aevil0000000", "abob00000000", "6")
    with signed_up.read() as session:
        with pytest.raises(NotPossible, match=r"2 accounts are named bob: abob\w+, abob\w+\. Give the id\."):
            directory.find(session, "bob")
        assert directory.find(session, "abob00000000").name == "bob"


def test_bans_grants_and_transfers_take_user_names(signed_up: Database) -> None:
    (entry,) = invented.submit(signed_up, range(1), owner="aroot0000000")
    assert "100% (aowner000000)" in people.ban(signed_up, MAINTAINER, None, "100%", "because").message
    assert "bob (abob00000000) may make" in allowances.grant(signed_up, MAINTAINER, "bob", 2, "because").message
    assert "belongs to bob (abob00000000)" in entries.transfer(signed_up, MAINTAINER, entry, "BOB", "left").message
    with signed_up.read() as session:
        assert session.get_one(Submission, entry).owner == "abob00000000"
        assert session.get_one(Account, "aowner000000").banned_at is not None
        assert [one.account for one in grants.listed(session)] == ["abob00000000"]
    for use in (
        lambda: people.ban(signed_up, MAINTAINER, None, "nobody", "because"),
        lambda: allowances.grant(signed_up, MAINTAINER, "nobody", 1, "because"),
        lambda: entries.transfer(signed_up, MAINTAINER, entry, "nobody", "because"),
    ):
        with pytest.raises(NotFound):
            use()


@pytest.mark.parametrize("named", ["100%", "Root", "lab-admin"])
def test_only_owners_shut_out_maintainers_and_owners_or_let_them_in_again(signed_up: Database, named: str) -> None:
    for use_case in (people.ban, people.unban):
        with pytest.raises(NotAllowed, match="owner"):
            use_case(signed_up, MAINTAINER, SETTINGS, named, "because")
        assert use_case(signed_up, OWNER_OF_THE_SERVICE, SETTINGS, named, "because").changed
    assert people.ban(signed_up, MAINTAINER, SETTINGS, "bob", "because").changed


def test_the_list_tells_roles_bans_and_submissions_the_last_seen_first(signed_up: Database) -> None:
    invented.submit(signed_up, range(2), owner="abob00000000")
    people.ban(signed_up, MAINTAINER, None, "bob", "because")
    found = directory.listing(signed_up, MAINTAINER, "demo", SETTINGS)
    assert [(one.name, one.role, one.submissions, one.banned_at is not None) for one in found.accounts] == [
        ("lab-admin", "maintainer", 0, False),
        ("100%", "owner", 0, False),
        ("Root", "maintainer", 0, False),
        ("bob", "submitter", 2, True),
    ]
    assert found.number == 4
    assert {one.role for one in directory.listing(signed_up, MAINTAINER, "demo", None).accounts} == {None}


def test_what_somebody_asked_for_is_shown_with_their_name(signed_up: Database) -> None:
    assert directory.names(signed_up, MAINTAINER, ["abob00000000", None, "local"]) == {"abob00000000": "bob"}
    allowances.grant(signed_up, MAINTAINER, "bob", 2, "because")
    shown = markup.grants(allowances.listing(signed_up, MAINTAINER), {"abob00000000": "<bob>"})
    assert "&lt;bob&gt;" in shown and "abob00000000" not in shown and MAINTAINER.account in shown
    with pytest.raises(NotAllowed):
        directory.names(signed_up, STRANGER, ["abob00000000"])


def test_the_search_is_for_a_part_of_name_or_id_as_text(signed_up: Database) -> None:
    for text, names in (("BO", ["bob"]), ("alab", ["lab-admin"]), ("%", ["100%"]), ("_", []), ("x", [])):
        found = directory.listing(signed_up, MAINTAINER, "demo", SETTINGS, text)
        assert ([one.name for one in found.accounts], found.number) == (names, len(names)), text
    with pytest.raises(NotAllowed):
        directory.listing(signed_up, STRANGER, "demo", SETTINGS)


def test_the_account_local_is_known_and_cannot_be_banned(database: Database) -> None:
    for who in (LOCAL, MAINTAINER):
        with pytest.raises(NotPossible, match="local is whoever reaches this machine without signing in"):
            people.ban(database, who, None, "local", "because")
