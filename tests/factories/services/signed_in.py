"""The real service with sign-in: an OpenID provider that it trusts, and people who sign in there, over HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.factories.fakes.openid_provider import CLIENT_ID, CLIENT_SECRET, Provider
from tests.factories.services.service import PATIENCE, Service, running
from tests.factories.services.serving import held_port, serving

SESSION_SECRET = "Qm8fXo2nT4sVb7Zc1Kd9Lw3Rj6Hy5Gp0AeUiBtNx"


Note = Callable[[httpx.Response], None]


@dataclass
class SignedInService:
    """A running service and its provider."""

    service: Service
    provider: Provider

    def browser(self, user: str = "", *, note: Note | None = None) -> httpx.Client:
        """Return a browser in which somebody has signed in, or nobody. `note` is given every answer."""
        browser = httpx.Client(base_url=self.service.url, timeout=PATIENCE, headers={"Origin": self.service.url})
        browser.event_hooks["response"] = [note] if note else []
        if user:
            self.provider.who = user
            answer = browser.get("/auth/sign-in", follow_redirects=True)
            assert str(answer.url) == f"{self.service.url}/", answer.text
        return browser


def token_of(browser: httpx.Client, *, scope: str = "submit") -> str:
    """Return a new API token of anyone who is signed in."""
    form = {"name": "cluster", "scopes": [scope], "days": "30"}
    found = re.search(r"vlrb_[\w-]{43}", browser.post("/account/tokens", data=form).text)
    assert found
    return found[0]


@contextmanager
def running_signed_in(
    data_dir: Path, *, gradio: bool = False, fresh: bool = False, **environ: str
) -> Iterator[SignedInService]:
    """`service.running` with a provider of its own, which has the users alice, bob and mallory."""
    provider = Provider()
    with (
        sign_in_settings(provider) as settings,
        running(data_dir, gradio=gradio, fresh=fresh, **{**settings, **environ}) as service,
    ):
        yield SignedInService(service, provider)


@contextmanager
def sign_in_settings(provider: Provider) -> Iterator[dict[str, str]]:
    """Provide the settings of a service that trusts the provider, which runs meanwhile; its port stays the same."""
    with serving(provider.app()) as issuer, held_port() as port:
        provider.url = issuer
        provider.reset()
        public = f"http://127.0.0.1:{port}"
        provider.redirect_uris = {f"{public}/auth/callback"}
        yield {
            "PORT": str(port),
            "PUBLIC_URL": public,
            "OIDC_ISSUER": issuer,
            "OIDC_CLIENT_ID": CLIENT_ID,
            "OIDC_CLIENT_SECRET": CLIENT_SECRET,
            "SESSION_SECRET": SESSION_SECRET,
        }
