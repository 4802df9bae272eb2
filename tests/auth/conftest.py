from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from auth.settings import IdentitySettings
from storage.database import Database
from tests.databases import new_database
from tests.factories.fakes.openid_provider import Provider, serving
from tests.factories.services.auth_site import PUBLIC_URL, AuthSite, openid_settings


@pytest.fixture(scope="session")
def _provider() -> Iterator[Provider]:
    running = Provider()
    with serving(running.app()) as url:
        running.url = url
        yield running


@pytest.fixture
def provider(_provider: Provider) -> Provider:
    """Return the OpenID provider, honest and with its three users."""
    _provider.reset()
    _provider.redirect_uris = {f"{PUBLIC_URL}/auth/callback"}
    return _provider


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Database]:
    opened = new_database(f"sqlite:///{tmp_path}/leaderboard.db")
    yield opened
    opened.close()


@pytest.fixture
def settings(provider: Provider) -> IdentitySettings:
    return openid_settings(provider)


@pytest.fixture
def site(settings: IdentitySettings, sqlite: Database, provider: Provider) -> AuthSite:
    """Return the service behind https://board.example, with sign-in."""
    return AuthSite(settings, sqlite, provider=provider)


@pytest.fixture
def another(sqlite: Database, provider: Provider) -> Callable[..., AuthSite]:
    """Make a site with other settings on the same database."""

    def make(**changes: Any) -> AuthSite:
        return AuthSite(openid_settings(provider, **changes), sqlite, provider=provider)

    return make
