"""The settings of the web process."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from pydantic import SecretStr, field_validator, model_validator

from auth.csrf import is_loopback
from auth.settings import HUGGING_FACE, IdentitySettings, Mode
from operation.mail_server import MailServer
from operation.replica import UPLOADS
from settings.declared import Names, keys_of, setting, split_names
from settings.worker import WorkerSettings
from vlrb.common.file_limit import FILE_LIMIT

SPACE_NAMES = ("SPACE_ID", "SPACE_HOST", "OPENID_PROVIDER_URL", "OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET")
"""What Hugging Face sets on a Space, the last three where its README says `hf_oauth: true`."""

_FILE_LIMIT_MB = FILE_LIMIT / 2**20
_SHORTEST_PREFIX = {4: 8, 6: 16}  # of a network of proxies
_PUBLIC = (
    "HOST={host} would make this service reachable by others, and no sign-in is configured: anybody could submit. "
    "Configure it (OIDC_CLIENT_ID; on a Space hf_oauth: true in its README), leave HOST at 127.0.0.1, or accept that "
    "by setting INSECURE_ALLOW_PUBLIC=1 (on a Space among its variables)."
)
_UNDECIDED = (
    "Set IDENTITY=local (no sign-in, this machine only; make serve does this), OIDC_CLIENT_ID (sign-in), or "
    "INSECURE_ALLOW_PUBLIC=1 (everybody may submit, nobody may maintain)."
)


class Settings(WorkerSettings):
    """What the web process needs in addition."""

    host: str = setting(
        "127.0.0.1", "address to listen on. Anything but a loopback address needs `INSECURE_ALLOW_PUBLIC`"
    )
    port: int = setting(7860, "port to listen on", ge=0, le=65535)
    upload_limit_mb: float = setting(_FILE_LIMIT_MB, "largest file taken", ge=0.001, le=_FILE_LIMIT_MB)
    identity_mode: Literal["", "openid", "local"] = setting(
        "",
        "`openid`: people sign in. `local`: no sign-in; answers to this machine only, and anyone who reaches "
        "it, through "
        "a proxy on it too, has full access; a line on every page says so",
        shown="`openid` if there is a client id; else it must be set (`make serve` sets `local`)",
        example="local",
        alias="identity",
    )
    public_url: str = setting(
        "",
        "scheme and host under which browsers reach the service, for sign-in: `https://board.example.org`",
        shown="on a Space its own",
    )
    oidc_issuer: str = setting("", "OpenID provider", shown=f"`{HUGGING_FACE}`")
    oidc_client_id: str = setting(
        "",
        "client registered there; its redirect address is `PUBLIC_URL/auth/callback`",
        shown="on a Space its own",
    )
    oidc_client_secret: SecretStr = setting(
        SecretStr(""), "its secret; empty for a public client", shown="on a Space its own"
    )
    session_secret: SecretStr = setting(
        SecretStr(""),
        "at least 32 random bytes: `python -c 'import secrets; print(secrets.token_urlsafe(48))'`. Sign-in needs it. "
        "It also encrypts addresses of e-mail. While you change it, the new one, a comma, and the old one",
        shown="none",
    )
    owners: Names = setting(
        (),
        "names at the provider, or `sub:<subject>`, separated by commas; owners are maintainers too, and "
        "only owners ban "
        "maintainers",
        shown="none",
    )
    maintainers: Names = setting((), "as above", shown="none")
    trusted_proxies: Names = setting(
        (),
        "addresses or networks (at most a /8, IPv6 a /16) of proxies whose `X-Forwarded-For` is believed, and without "
        "`PUBLIC_URL` the host and scheme that they name",
        shown="none; on a Space `10.0.0.0/8`",
    )
    quota_per_day: int = setting(
        1,
        "scored submissions in 24 hours for each account and each organisation; `0` is no limit. None of it "
        "without sign-in",
        ge=0,
        le=1000,
    )
    quota_per_year: int = setting(
        12, "the same in 365 days; every label revision scores all of them, so none gives more", ge=0, le=100_000
    )
    approve_first_upload: bool = setting(
        False,
        "`1`: the first submission of every account waits for a maintainer; until then no label is touched",
        shown="`0`",
        example="1",
    )
    requests_per_minute: int = setting(
        120,
        "checks, uploads, calls of the pages' functions, sign-ins and other changes, of each kind, from one "
        "address, and of "
        "one account, in a minute; with it come four uploads of the largest size, or as many bytes, in an hour "
        "and four calls "
        "at a time from one address. `0` is no limit. None of it in local mode",
        ge=0,
        le=1_000_000,
    )
    quota_exempt_orgs: Names = setting(
        (), "names or ids of organisations that anybody may join, so that their members are not one team", shown="none"
    )
    receipt_key: SecretStr = setting(
        SecretStr(""),
        "Ed25519 key that receipts are signed with, the base64 of 32 random bytes (`openssl rand -base64 32`); needed "
        "with `REPLICA_URL`, since the disk may vanish. Else it is in `DATA_DIR/keys/receipt.key`",
        shown="made at the first start",
    )
    insecure_allow_public: bool = setting(
        False,
        "`1` accepts that everybody who reaches a service without sign-in can submit; nobody can maintain it",
        shown="`0`",
        example="1",
    )
    smtp_url: SecretStr = setting(
        SecretStr(""),
        "mail server for news that submitters ask for: `smtps://user:password@host?from=board@example.org` (TLS) or "
        "`smtp://...` (STARTTLS); needs sign-in ([e-mail](maintaining.md#e-mail-to-submitters))",
        shown="none: no e-mail",
    )
    metrics_token: SecretStr = setting(
        SecretStr(""),
        "who sends it as `Authorization: Bearer` may read `/metrics`",
        shown="none: requests from this machine alone",
    )

    @classmethod
    def usual(cls, environ: Mapping[str, str]) -> Mapping[str, str]:
        """Return what a Space says of itself."""
        space, host, issuer, client, secret = (environ.get(name, "").strip() for name in SPACE_NAMES)
        if not space:
            return {}
        return {
            "host": "0.0.0.0",  # noqa: S104 (a Space cannot be reached otherwise; refused below unless it is meant)
            "trusted_proxies": "10.0.0.0/8",  # a Space is reached through Hugging Face's own network only
            "public_url": f"https://{host.lower()}" if host else "",
            "oidc_issuer": issuer.rstrip("/"),
            "oidc_client_id": client,
            "oidc_client_secret": secret,
        }

    @field_validator("trusted_proxies")
    @classmethod
    def _few_proxies(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse names, `*` and networks of nearly everybody: then clients would state their own address."""
        for name in names:
            try:
                network = ipaddress.ip_network(name)
                too_many = network.prefixlen < _SHORTEST_PREFIX[network.version]
            except ValueError:
                too_many = True
            if too_many:
                raise ValueError(
                    f"TRUSTED_PROXIES holds {name!r}, which is not an address or a network of proxies (at "
                    "most a /8, IPv6 a /16). For instance TRUSTED_PROXIES=203.0.113.7,10.0.0.0/8."
                )
        return names

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        _ = self.identity  # raises for what would let the wrong people in
        if self.replica_url and not self.receipt_key.get_secret_value():
            raise ValueError(
                "REPLICA_URL needs RECEIPT_KEY, so that the key of receipts outlives this disk. Keep the "
                "output of openssl rand -base64 32 safe, and set RECEIPT_KEY to it."
            )
        if self.mail_server is not None and self.identity.mode is not Mode.OPENID:
            raise ValueError(
                "SMTP_URL needs sign-in, so that addresses have owners. Set OIDC_CLIENT_ID, or leave it out."
            )
        return self

    @property
    def mail_server(self) -> MailServer | None:
        """The server that takes e-mails; None where there are none."""
        url, _sign, sender = self.smtp_url.get_secret_value().partition("?from=")
        return MailServer(url, sender) if url else None

    @property
    def uploads_url(self) -> str:
        """Where submitted files stay."""
        return self.replica.below(UPLOADS) if self.replica else str(self.state_dir / UPLOADS)

    @property
    def upload_limit_bytes(self) -> int:
        """The largest file taken."""
        return int(self.upload_limit_mb * 2**20)

    @cached_property
    def identity(self) -> IdentitySettings:
        """How people are distinguished, and who has which role."""
        openid = "openid" if self.oidc_client_id else "local" if self.insecure_allow_public else ""
        wanted = self.identity_mode or openid
        secrets = split_names(self.session_secret.get_secret_value())
        if wanted != "openid":
            return IdentitySettings(self._mode_without_sign_in(wanted), session_secrets=secrets)
        return IdentitySettings(
            mode=Mode.OPENID,
            public_url=self.public_url,
            client_id=self.oidc_client_id,
            client_secret=self.oidc_client_secret.get_secret_value(),
            issuer=self.oidc_issuer or HUGGING_FACE,
            session_secrets=secrets,
            owners=self.owners,
            maintainers=self.maintainers,
        )

    def _mode_without_sign_in(self, wanted: str) -> Mode:
        public = not is_loopback(self.host)
        if not wanted and not public:  # full access for everybody is nothing to fall into
            raise ValueError(_UNDECIDED)
        if public and not self.insecure_allow_public:
            raise ValueError(_PUBLIC.format(host=self.host))
        return Mode.OPEN if self.insecure_allow_public else Mode.LOCAL

    @property
    def frame_ancestors(self) -> tuple[str, ...]:
        """Whose frames pages may be embedded in, beside their own: Hugging Face's, and no other Space's."""
        return () if self.identity.mode is Mode.LOCAL else (HUGGING_FACE,)

    @property
    def keys_dir(self) -> Path:
        """The private key that receipts are signed with, where RECEIPT_KEY does not hold one."""
        return self.state_dir / "keys"

    @property
    def spool_dir(self) -> Path:
        """Files on their way in; what was left behind is removed when a service starts, after an hour."""
        return self.state_dir / "spool"

    @property
    def gradio_dir(self) -> Path:
        """Files that were uploaded to the pages; deleted within the hour."""
        return self.state_dir / "gradio"


SETTING_NAMES = tuple(key.upper() for key, _ in keys_of(Settings))
"""What a person may set."""

_OF_WORKERS = dict(keys_of(WorkerSettings))
SECRET_NAMES = (
    "OAUTH_CLIENT_SECRET",
    *(key.upper() for key, info in keys_of(Settings) if key not in _OF_WORKERS and info.annotation is SecretStr),
)
"""What no other process than the web app's needs."""
