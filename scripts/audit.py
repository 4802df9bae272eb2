"""Known vulnerabilities of what is installed: `python scripts/audit.py`, part of `.ci/run`.

Exit code 1 where pip-audit knows one that is not listed, with its reason, in audit-accepted.txt. Where the index
of vulnerabilities cannot be reached nothing can be said: one line says so, and that is no failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ACCEPTED = Path(__file__).with_name("audit-accepted.txt")
UNREACHABLE = "audit: the index of vulnerabilities cannot be reached from here, so nothing was audited"
_COMMAND = (sys.executable, "-m", "pip_audit", "--format=json", "--progress-spinner=off", "--timeout=10")
_PROBE = "idna==3.10\n"  # any package that the index certainly knows


def main() -> int:
    """Return the exit code."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as probe:
        probe.write(_PROBE)
        probe.flush()
        answered = _audited(_report("--disable-pip", "--no-deps", "-r", probe.name, seconds=60))
    report = _report("--local", "--skip-editable", seconds=900) if answered else {}
    code, lines = verdict(report, accepted(ACCEPTED.read_text()))
    sys.stdout.write("\n".join(lines) + "\n")
    return code


def _report(*options: str, seconds: float) -> dict[str, Any]:
    """Return what pip-audit found; {} where it found nothing out."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "report.json"
        try:
            subprocess.run(
                [*_COMMAND, *options, f"--output={output}"], capture_output=True, timeout=seconds, check=False
            )
            return dict(json.loads(output.read_bytes()))
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return {}


def _audited(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the packages about which the index had an answer."""
    return [dependency for dependency in report.get("dependencies", ()) if "vulns" in dependency]


def accepted(text: str) -> dict[str, str]:
    """Return identifiers that are known and harmless here -> why. Raises ValueError for one without a reason."""
    result = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.strip().partition(" ")
            if not reason.strip():
                raise ValueError(f"{ACCEPTED.name}: {name} has no reason")
            result[name] = reason.strip()
    return result


def verdict(report: Mapping[str, Any], excused: Mapping[str, str]) -> tuple[int, list[str]]:
    """Exit code and what to say."""
    audited = _audited(report)
    if not audited:
        return 0, [UNREACHABLE]
    bad: list[str] = []
    known: list[str] = []
    for package in audited:
        for result in package["vulns"]:
            names = [result["id"], *result.get("aliases", ())]
            reason = next((excused[name] for name in names if name in excused), None)
            what = f"{package['name']} {package['version']}: {', '.join(names)}"
            fixed = ", ".join(result.get("fix_versions", ())) or "no version"
            (known if reason else bad).append(f"audit: {what} ({reason or f'fixed in {fixed}'})")
    unknown = len(report["dependencies"]) - len(audited)
    more = f", {unknown} unknown to the index" if unknown else ""
    summary = f"audit: {len(audited)} packages{more}, {len(bad)} vulnerabilities that nobody has accepted"
    return int(bool(bad)), [*known, *bad, summary]


if __name__ == "__main__":
    sys.exit(main())
