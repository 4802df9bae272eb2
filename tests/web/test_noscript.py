"""Gradio's pages where no script runs."""

from web.middleware.noscript import insert_noscript

PAGE = b'<html lang="en"><head><title>x</title></head><body class="a">drawn</body></html>'
LINKS = (
    b'<link rel="alternate" hreflang="en" href="?lang=en"><link rel="alternate" hreflang="zh-CN" href="?lang=zh-CN">'
)


def test_the_sentence_begins_the_body_the_head_names_the_languages_and_nothing_else_changes() -> None:
    page = insert_noscript(PAGE)
    start, end = page.index(b"<noscript>"), page.index(b"</noscript>") + len(b"</noscript>")
    assert page[:start].endswith(b'<body class="a">')
    assert page.count(LINKS + b"</head>") == 1
    assert (page[:start] + page[end:]).replace(LINKS, b"") == PAGE


def test_what_has_no_body_stays_as_it_is() -> None:
    assert insert_noscript(b"<p>part") == b"<p>part"
