"""Treatment of known vulnerabilities in dependencies by CI."""

from __future__ import annotations

import pytest

from scripts.audit import UNREACHABLE, accepted, verdict

VULNERABLE = {
    "dependencies": [
        {"name": "good", "version": "1", "vulns": []},
        {"name": "bad", "version": "2", "vulns": [{"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["3"]}]},
        {"name": "ours", "skip_reason": "not there"},
    ]
}


def test_a_known_vulnerability_fails_and_names_the_version_that_mends_it() -> None:
    code, lines = verdict(VULNERABLE, {})
    assert code == 1
    assert lines[0] == "audit: bad 2: PYSEC-1, CVE-1 (fixed in 3)"
    assert lines[-1] == "audit: 2 packages, 1 unknown to the index, 1 vulnerabilities that nobody has accepted"


@pytest.mark.parametrize("name", ["PYSEC-1", "CVE-1"])
def test_one_that_was_accepted_under_any_of_its_names_is_shown_with_the_reason(name: str) -> None:
    code, lines = verdict(VULNERABLE, accepted(f"# why\n\n{name}  we never call it\n"))
    assert code == 0
    assert "(we never call it)" in lines[0]


def test_an_acceptance_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="CVE-1 has no reason"):
        accepted("CVE-1\n")


@pytest.mark.parametrize("report", [{}, {"dependencies": []}, {"dependencies": [{"name": "x", "skip_reason": "away"}]}])
def test_an_index_that_does_not_answer_is_said_and_no_failure(report: dict[str, object]) -> None:
    assert verdict(report, {}) == (0, [UNREACHABLE])
