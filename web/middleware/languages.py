"""Language of a request: `?lang=`, then the cookie, then Accept-Language; English otherwise.

Inside, `LANGUAGE` names it, and the query has no `lang` any more. What the API answers stays English but for what it
tells people, such as its errors: `READER` names their language.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth.problem_details import READER
from leaderboard.site.render_context import LANGUAGE
from vlrb.common.translations import ENGLISH, languages, preferred

COOKIE = "lang"
_PARAMETER = b"lang="
_KEPT = re.compile(rb"(?:^|;)\s*lang=([A-Za-z-]{2,20})\s*(?:;|$)")
_TAG = re.compile("[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")  # `zh` and `zh-TW` lead to the Chinese that there is
_LONGEST = 500  # bytes of an Accept-Language that are read and kept
_YEAR = 365 * 24 * 3600  # seconds
_ENGLISH_ONLY = re.compile("(?:/b/[^/]+)?/(?:api|static|export)/")  # of the first benchmark or of another one
_GRADIO_CALLS = "/app/gradio_api/"


class LanguageMiddleware:
    """ASGI: says in which language a request is answered, and keeps what `?lang=` asked for in a cookie."""

    def __init__(self, app: ASGIApp, https: bool = False) -> None:
        self._app, self._https = app, https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        query: bytes = scope.get("query_string", b"")
        asked = _requested_language(query)
        language = asked or _language_of(scope)
        english_only = _ENGLISH_ONLY.match(scope["path"])
        READER.set(language)
        LANGUAGE.set(ENGLISH if english_only else language)
        if asked and not english_only:
            rest = b"&".join(part for part in query.split(b"&") if not part.startswith(_PARAMETER))
            scope = {**scope, "query_string": rest}
            send = _keeping(send, self._cookie(asked, scope))
        await self._app(scope, receive, send)

    def _cookie(self, language: str, scope: Scope) -> bytes:
        secure = "; Secure" if self._https or scope["scheme"] == "https" else ""
        return f"{COOKIE}={language}; Max-Age={_YEAR}; Path=/; SameSite=Lax; HttpOnly{secure}".encode()


def _language_of(scope: Scope) -> str:
    """Return the language of a request whose address asks for none."""
    headers: dict[bytes, bytes] = dict(scope["headers"])
    # The referer of a call is its page, which may be in a frame that keeps no cookie.
    page = headers.get(b"referer", b"").partition(b"?")[2] if scope["path"].startswith(_GRADIO_CALLS) else b""
    kept = _KEPT.search(headers.get(b"cookie", b""))
    language = _requested_language(page) or (kept[1].decode() if kept else "")
    return language if language in languages() else _preferred(headers.get(b"accept-language", b"")[:_LONGEST])


def _requested_language(query: bytes) -> str:
    """Return the language that a query asks for; "" where it asks for none that is known."""
    if _PARAMETER not in query:
        return ""
    value = parse_qs(query.decode("latin-1")).get("lang", [""])[-1]
    if value in languages():
        return value
    if not _TAG.fullmatch(value) or value.lower().startswith(ENGLISH):
        return ""
    return language if (language := preferred(value, languages())) != ENGLISH else ""


@lru_cache(maxsize=1024)
def _preferred(accepted: bytes) -> str:
    return preferred(accepted.decode("latin-1"), languages())


def _keeping(send: Send, cookie: bytes) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"set-cookie", cookie)]}
        await send(message)

    return sending
