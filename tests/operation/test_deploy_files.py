"""Shipped topologies and the image: settings that exist, one process for a visitor, a user without rights."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.generated import env_example
from settings import Settings, SettingsError, WorkerSettings
from tests.test_architecture import PACKAGES
from web.startup import prepare_items

DEPLOY = Path(__file__).parents[2] / "deploy"
SETTINGS = {(info.alias or name).upper() for name, info in Settings.model_fields.items()}
ELSEWHERE = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
UNIT = DEPLOY / "systemd" / "leaderboard.service"


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


def test_every_setting_that_a_topology_names_exists() -> None:
    services = compose()["services"]
    own = [name for service in ("web1", "web2", "worker") for name in services[service]["environment"]]
    own += re.findall(r"(?:^Environment=| )([A-Z_]+)=", UNIT.read_text(), re.MULTILINE)
    assert {"ROLE", "DATABASE_URL"} <= set(own)
    assert set(own) <= SETTINGS | ELSEWHERE


def listed(role: str) -> dict[str, str]:
    """Return the settings in the example of a role's environment file, those in comments too."""
    text = (DEPLOY / f"{role}.env.example").read_text()
    assert text == env_example(role)
    return dict(re.findall(r"^#?([A-Z_]+)=(.*)", text, re.MULTILINE))


def test_each_process_of_compose_gets_a_file_with_settings_of_its_role() -> None:
    services = compose()["services"]
    assert [services[name]["env_file"] for name in ("web1", "web2", "worker")] == [["web.env"]] * 2 + [["worker.env"]]
    workers_only = {"LABELS_TOKEN", "AUDIT_DATASET", "LEASE_SECONDS", "HIDDEN_LABELS"}
    assert set(listed("web")) == SETTINGS - workers_only - set(services["web1"]["environment"])
    workers = {(info.alias or name).upper() for name, info in WorkerSettings.model_fields.items()}
    assert set(listed("worker")) == workers - set(services["worker"]["environment"])


def web_settings(**environ: str) -> Settings:
    return Settings.from_env({"IDENTITY": "local", "ROLE": "web", **environ})


def test_a_web_process_learns_which_labels_there_are_but_no_source_of_them() -> None:
    assert "=" not in listed("web")["LABELS"]
    assert "LABELS" not in compose()["services"]["web1"]["environment"]
    web = web_settings(LABELS="v2,v3")
    assert [(spec.revision, spec.source) for spec in web.label_specs] == [("v2", ""), ("v3", "")]
    for role in ("all", "worker"):
        with pytest.raises(SettingsError, match="LABELS holds 'v2'"):
            WorkerSettings.from_env({"ROLE": role, "LABELS": "v2"})


def test_a_web_process_waits_for_pairs_that_workers_read_from_label_files(tmp_path: Path) -> None:
    settings = web_settings(LABELS="multimodal-rewardbench/v1", DATA_DIR=str(tmp_path))
    with pytest.raises(SettingsError, match=r"come from a worker.*REPLICA_URL"):
        prepare_items(settings)
    manifest = settings.served[0].manifest_path
    assert manifest is not None
    manifest.parent.mkdir()
    manifest.touch()
    prepare_items(settings)


def test_the_proxy_routes_gradio_by_cookie_and_hides_metrics() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    gradio = text.partition("upstream gradio {")[2].partition("}")[0]
    assert "hash $visitor consistent;" in gradio
    assert re.search(r"location /app \{\s+proxy_pass http://gradio;", text)
    assert re.search(r"location = /metrics \{\s+return 404;", text)
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in text


def test_the_proxy_believes_the_forwarded_address_of_named_proxies_alone() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    named = re.findall(r"^ +set_real_ip_from (\S+);", text, re.MULTILINE)
    listed = re.findall(r"^ +(\S+) 1;", text.partition("geo $realip_remote_addr $from_proxy {")[2], re.MULTILINE)
    assert named == listed
    assert compose()["networks"]["inside"]["ipam"]["config"][0]["subnet"] in named
    assert "real_ip_header X-Forwarded-For;" in text
    assert "real_ip_recursive on;" in text
    assert "proxy_set_header X-Forwarded-Proto $visited_scheme;" in text
    (port,) = compose()["services"]["nginx"]["ports"]
    assert port.startswith("127.0.0.1:"), "who reaches nginx directly may state an address"


RECIPE = (DEPLOY.parent / "Dockerfile").read_text().replace("\\\n", " ")
LINES = [line.split(None, 1) for line in RECIPE.splitlines() if line and not line.startswith((" ", "#"))]

CONTEXT = [
    line for line in (DEPLOY.parent / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")
]


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
