"""Use cases: start a sign-in, complete it, sign out."""

from __future__ import annotations

import re
import time
from dataclasses import asdict, dataclass

from auth import queries
from auth.crypto import KeyRing, constant_time_equal, digest, random_id
from auth.model import Forbidden, Identity, require_person
from auth.openid import OpenIdClient, SignInFailed, Transaction, UserClaims
from auth.settings import IdentitySettings
from storage.database import Database
from storage.integrity import audit
from vlrb.common.messages import _

TRANSACTION_SECONDS = 600
ROLE_BOUND = "identity.role-bound"
_PURPOSE = "sign-in"
HOME = "/"
# No two slashes at its beginning and no backslash, which browsers read as another host; before the query, nothing that
# somebody decodes. The pages of the sign-in itself would send people round in circles.
_PATH = re.compile(r"/(?!/|auth/)[\w./:,~+-]{0,500}(\?[\w./?=&:,~+%-]{0,2000})?(#[\w-]{0,200})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Started:
    """Redirect target of the browser, and the cookie to set."""

    url: str
    cookie: str


@dataclass(frozen=True, slots=True)
class Completed:
    """A new session: the cookie's value exists here and in the browser only."""

    cookie: str
    target: str  # a path of this site


class SignIn:
    """Sign-in through the issuer. All methods block; call them in a thread."""

    def __init__(self, settings: IdentitySettings, database: Database, *, seal: KeyRing, client: OpenIdClient) -> None:
        self._settings, self._database, self._seal, self._client = settings, database, seal, client

    def start(self, target: str | None) -> Started:
        """Begin. Nothing is stored here: what the answer must fit travels in a signed cookie, for ten minutes.

        Raises:
            IssuerOffline: the issuer does not answer.
        """
        transaction = Transaction(state=random_id(), nonce=random_id(), verifier=random_id())
        value = {"s": transaction.state, "n": transaction.nonce, "v": transaction.verifier, "t": local_path(target)}
        return Started(self._client.authorization_url(transaction), self._seal.sign(_PURPOSE, value))

    def complete(
        self, *, code: str, state: str, issuer: str | None, sign_in_cookie: str, session_cookie: str
    ) -> Completed:
        """Start a session for a user whom the issuer identified. Always a new session id; the one before ends.

        Raises:
            SignInFailed: the answer does not fit what was asked, or was used before.
            IssuerOffline: the issuer does not answer.
            Forbidden: the account is banned.
        """
        value = self._seal.unsign(_PURPOSE, sign_in_cookie, seconds=TRANSACTION_SECONDS)
        if value is None:
            raise SignInFailed(_("this browser has not started a sign-in, or too long ago"))
        if not constant_time_equal(value["s"], state):
            raise SignInFailed(_("the state is not the one that was sent"))
        if issuer is not None and issuer != self._settings.issuer:  # RFC 9207: another issuer's answer
            raise SignInFailed(_("another issuer answers"))
        person = self._client.exchange(code, Transaction(value["s"], value["n"], verifier=value["v"]))
        cookie = self._create_session(person, state, session_cookie=session_cookie)
        return Completed(cookie, local_path(value.get("t", HOME)))

    def sign_out(self, identity: Identity) -> None:
        """End this session on the server; the cookie is worth nothing from now on."""
        if identity.auth_method == "session":
            with self._database.write() as session:
                queries.end_session(session, identity.credential)

    def sign_out_everywhere(self, identity: Identity) -> None:
        """End all sessions of the account."""
        person = require_person(identity)
        with self._database.write() as session:
            queries.end_sessions(session, person.account)

    def _create_session(self, person: UserClaims, state: str, *, session_cookie: str) -> str:
        for attempt in (1, 2):
            cookie = random_id()
            try:
                self._record(person, state, cookie=cookie, session_cookie=session_cookie)
            except queries.IntegrityError:
                # Two first sign-ins of one account at once: the second try finds it. Otherwise a replay.
                if attempt == 2:
                    raise SignInFailed(_("this sign-in was completed before")) from None
                time.sleep(0.02)
            else:
                return cookie
        raise AssertionError("unreachable")

    def _record(self, person: UserClaims, state: str, *, cookie: str, session_cookie: str) -> None:
        """Store in one transaction: account, roles, the old session's end, the new session."""
        settings = self._settings
        with self._database.write() as session:
            account = queries.upsert_account(
                session,
                settings.issuer,
                subject=person.subject,
                name=person.name,
                organisations=[asdict(organisation) for organisation in person.organisations],
                created_at=person.created_at,
            )
            if account.banned_at is not None:
                raise Forbidden(_("This account is banned."))
            if session_cookie:
                queries.end_session(session, digest(session_cookie))
            queries.add_session(
                session,
                digest(cookie),
                sign_in_sha256=digest(state),
                account_id=account.id,
                seconds=settings.session_seconds,
            )
            carried = settings.configured_names & {person.username.casefold()}
            for name in queries.bind_names(session, settings.issuer, names=carried, account_id=account.id):
                audit.append(session, ROLE_BOUND, data={"account": account.id, "name": name})


def local_path(target: str | None) -> str:
    """Return the target if it is a path of this site in plain characters, else the home page."""
    return target if target and _PATH.fullmatch(target) else HOME
