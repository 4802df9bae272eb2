"""Notice where no script runs."""

from web.middleware.noscript import insert_noscript


def test_the_sentence_begins_the_body_and_nothing_else_changes() -> None:
    page = b'<html><head><title>x</title></head><body class="a">drawn</body></html>'
    said = insert_noscript(page)
    start, end = said.index(b"<noscript>"), said.index(b"</noscript>") + len(b"</noscript>")
    assert said[:start].endswith(b'<body class="a">')
    assert said[:start] + said[end:] == page


def test_what_has_no_body_stays_as_it_is() -> None:
    assert insert_noscript(b"<p>part") == b"<p>part"
