"""Notice where no script runs."""

from web.middleware.noscript import insert_noscript, insert_title


def test_the_sentence_begins_the_body_and_nothing_else_changes() -> None:
    page = b'<html><head><title>x</title></head><body class="a">drawn</body></html>'
    said = insert_noscript(page)
    start, end = said.index(b"<noscript>"), said.index(b"</noscript>") + len(b"</noscript>")
    assert said[:start].endswith(b'<body class="a">')
    assert said[:start] + said[end:] == page


def test_what_has_no_body_stays_as_it_is() -> None:
    assert insert_noscript(b"<p>part") == b"<p>part"


def test_each_page_has_a_title_of_its_own_where_gradio_has_one_for_all() -> None:
    page = b'<script>window.gradio_config = {"title":"Brand","x":{"title":"Brand"}}</script>'
    titled = insert_title(page, "Brand", "Submit predictions")
    assert titled.count(b'"title":"Submit predictions \\u00b7 Brand"') == 1
    assert titled.count(b'"title":"Brand"') == 1
    assert insert_title(page, "Brand", "") == page
