"""Contents and user of the container image, as far as its recipe states them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.test_architecture import PACKAGES

ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
LINES = [line.split(None, 1) for line in RECIPE.splitlines() if line and not line.startswith((" ", "#"))]

CONTEXT = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]


def of(keyword: str) -> list[str]:
    return [rest for word, rest in LINES if word == keyword]


def test_nobody_in_the_image_is_root() -> None:
    assert of("USER") == ["app"]
    order = [word for word, _ in LINES]
    after = order[order.index("USER") :]
    assert "CMD" in after
    assert not {"RUN", "COPY", "ADD"} & set(after)


def test_everything_that_is_written_goes_to_the_volume_or_to_tmp() -> None:
    assert of("VOLUME") == ["/data"]
    places = dict(re.findall(r"(DATA_DIR|HOME|HF_HOME)=(\S+)", " ".join(of("ENV"))))
    assert set(places) == {"DATA_DIR", "HOME", "HF_HOME"}
    assert all(place.startswith(("/data", "/tmp")) for place in places.values())
    assert "PYTHONDONTWRITEBYTECODE=1" in " ".join(of("ENV"))


def test_no_secret_and_no_state_of_a_developer_is_copied_into_it() -> None:
    assert not re.search(r"(?i)(secret|token|password|key)\w*=", " ".join([*of("ENV"), *of("ARG")]))
    assert {"**/.env*", "**/*.env", "**/*.pem", "**/*.key", "**/*.jsonl", "**/*.parquet"} <= set(CONTEXT)


def test_what_is_not_named_stays_out_of_it() -> None:
    assert CONTEXT[0] == "*"
    named = {line.removeprefix("!") for line in CONTEXT if line.startswith("!")}
    assert named == {*PACKAGES, "app.py", "COMMIT", "LICENSE", "requirements.txt", "requirements.lock"}
    last = max(number for number, line in enumerate(CONTEXT) if line.startswith("!"))
    assert CONTEXT.index("**/*.jsonl") > last, "the last line that matches decides"


def test_it_is_not_open_to_others_unless_somebody_says_so() -> None:
    assert "INSECURE_ALLOW_PUBLIC" not in " ".join(of("ENV"))
