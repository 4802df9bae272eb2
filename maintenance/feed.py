"""Atom feed (RFC 4287) of the public decision log. Pure; the XML library escapes every text."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from maintenance.decision_log import Decision
from vlrb.common.text import join_sentences

_NAMESPACE = "http://www.w3.org/2005/Atom"


def atom(decisions: Sequence[Decision], site_url: str) -> bytes:
    """`site_url`: the service's own address, without a slash at the end."""
    feed = Element("feed", xmlns=_NAMESPACE)
    _text(feed, "title", value="VL-RewardBench leaderboard: decisions")
    _text(feed, "id", value=f"{site_url}/decisions.atom")
    _text(feed, "updated", value=decisions[0].at if decisions else "1970-01-01T00:00:00Z")
    SubElement(feed, "link", rel="self", href=f"{site_url}/decisions.atom")
    SubElement(feed, "link", rel="alternate", href=f"{site_url}/decisions")
    author = SubElement(feed, "author")
    _text(author, "name", value="The maintainers")
    for decision in decisions:
        entry = SubElement(feed, "entry")
        _text(entry, "id", value=f"urn:vl-rewardbench:decision:{decision.seq}")
        _text(entry, "title", value=decision.sentence)
        _text(entry, "updated", value=decision.at)
        SubElement(entry, "link", href=f"{site_url}/decisions/{decision.seq}")
        _text(entry, "summary", value=join_sentences(decision.title, decision.sentence, *decision.changes))
    body: bytes = tostring(feed, encoding="utf-8", xml_declaration=True)
    return body


def _text(parent: Element, name: str, *, value: str) -> None:
    SubElement(parent, name).text = value
