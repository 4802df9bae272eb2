"""Escaping of user text for Markdown, LaTeX and XML. Pure.

The text stays readable; what changes is that no Markdown renderer, TeX or XML parser takes it for an
instruction.
"""

from __future__ import annotations

import re
import unicodedata


def one_line(text: str) -> str:
    """Return text without line breaks, controls or directions: what must stay within its cell or its comment."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    visible = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text)
    return " ".join(visible.split())


_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>&|~^!$:#])")
# GitHub links these without any markup, and tells people that somebody has named them.
_LINKED = re.compile(r"://|www\.|(?<!\w)@|@[\w-]+\.\w|mailto:|xmpp:|(?<!\w)#\d|(?<!\w)GH-\d", re.IGNORECASE)


def markdown(text: str) -> str:
    """Return text for a cell of a Markdown table."""
    line = one_line(text)
    return _code(line) if _LINKED.search(line) else _MARKDOWN.sub(r"\\\1", line)


def _code(line: str) -> str:
    """Return the line as a code span, in which nothing is markup. A table cuts at a pipe, so that is a broken bar."""
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {line.replace('|', '¦')} {fence}"


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",  # not \{: BibTeX counts braces, escaped or not
    "}": r"\textbraceright{}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",  # \textquotedbl asks for a font encoding, and babel gives the bare sign a meaning
    "`": r"\textasciigrave{}",
    "'": "{'}",
    "[": "{[}",  # after the end of a row it would be an optional argument, as would the star
    "]": "{]}",
    "*": "{*}",
    "@": "{@}",
    "–": "--",
    "—": "---",
    "·": r"\textperiodcentered{}",
    "…": r"\ldots{}",
}
_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=,)(?=,)")


def latex(text: str) -> str:
    """Return text for TeX and BibTeX; braces balance."""
    return "".join(_LATEX.get(sign, sign) for sign in _LIGATURES.sub("\u0000", one_line(text))).replace("\u0000", "{}")


_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml(text: str) -> str:
    """Return text without the characters that XML 1.0 cannot hold; markup is the writer's to escape."""
    return _NOT_XML.sub("\ufffd", text)
