"""Settings: what is read, and what a wrong one says."""

from __future__ import annotations

from pathlib import Path

import pytest

from auth.settings import Mode
from settings import SECRET_NAMES, SETTING_NAMES, LabelSpec, Settings, SettingsError, WorkerSettings
from settings.web import SPACE_NAMES

COMMIT = "3f2a" * 10
SEVERAL = "multimodal-rewardbench/v1=/m.json,v2=/v.jsonl,v0=/w.jsonl,mm-rlhf-rewardbench/v1=/r.jsonl"


def read(**environ: str) -> Settings:
    """Of a service; one that has no client for sign-in is a local one."""
    signs_in = {"OIDC_CLIENT_ID", "OAUTH_CLIENT_ID"} & set(environ)
    return Settings.from_env(environ if signs_in else {"IDENTITY": "local", **environ})


@pytest.mark.parametrize("environ", [{}, {"HOST": "::1"}, {"LABELS": "v2=a"}, {"PUBLIC_URL": "https://b.example"}])
def test_that_everybody_may_do_everything_is_nothing_to_fall_into(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"IDENTITY=local .*OIDC_CLIENT_ID .*INSECURE_ALLOW_PUBLIC=1") as caught:
        Settings.from_env(environ)
    assert "\n" not in str(caught.value)
    assert Settings.from_env({**environ, "IDENTITY": "local"}).identity.mode is Mode.LOCAL
    assert Settings.from_env({**environ, "INSECURE_ALLOW_PUBLIC": "1"}).identity.mode is Mode.OPEN
    WorkerSettings.from_env(environ)  # workers and commands on the machine need no sign-in


def test_local_mode_alone_serves_the_demo_to_this_machine_only() -> None:
    settings = read()
    assert (settings.host, settings.port, settings.is_demo, settings.spec.id) == ("127.0.0.1", 7860, True, "demo")
    assert settings.served[0].label_revision == "demo"
    assert settings.served[0].manifest_path == Path.cwd() / "data" / "demo" / "items.json"


def test_demo_and_real_benchmark_have_databases_of_their_own() -> None:
    demo, real = read(DATA_DIR="/d"), read(DATA_DIR="/d", LABELS="v2=/l.jsonl")
    assert demo.database_url == "sqlite:////d/demo/leaderboard.db"
    assert real.database_url == "sqlite:////d/leaderboard.db"
    assert (demo.uploads_url, real.uploads_url) == ("/d/demo/uploads", "/d/uploads")
    assert real.served[0].manifest_path is None


def test_labels_are_named_sources_and_the_first_is_shown() -> None:
    settings = read(LABELS=f" v2=../labels_v2.jsonl, v0=owner/name@{COMMIT} ,")
    assert settings.label_specs == (LabelSpec("v2", "../labels_v2.jsonl"), LabelSpec("v0", f"owner/name@{COMMIT}"))
    assert settings.served[0].label_revision == "v2"


def test_texts_are_a_file_or_made_of_a_dataset_at_a_commit(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").touch()
    file = read(LABELS="v2=a", DATA_DIR="/d", ITEMS_FILE=str(tmp_path / "items.jsonl")).served[0]
    assert (file.item_texts_path, file.item_texts_source) == (tmp_path / "items.jsonl", "")
    sources = (f"hf://o/n@{commit}" for commit in (COMMIT, COMMIT[::-1]))
    made = [read(LABELS="v2=a", DATA_DIR="/d", ITEMS_FILE=source).served[0] for source in sources]
    assert made[0].item_texts_source == f"o/n@{COMMIT}"
    assert len({one.item_texts_path for one in made}) == 2
    assert all(one.item_texts_path and one.item_texts_path.parent == Path("/d/items") for one in made)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost"])
def test_a_loopback_address_needs_no_permission(host: str) -> None:
    assert read(HOST=host).identity.mode is Mode.LOCAL


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org", "127.0.0.1.evil.org"])
def test_any_other_address_is_refused_until_a_setting_says_it_is_meant(host: str) -> None:
    with pytest.raises(SettingsError, match="INSECURE_ALLOW_PUBLIC=1"):
        read(HOST=host)
    with pytest.raises(SettingsError, match="INSECURE_ALLOW_PUBLIC=1"):
        read(HOST=host, INSECURE_ALLOW_PUBLIC="0")
    assert read(HOST=host, INSECURE_ALLOW_PUBLIC="1").identity.mode is Mode.OPEN


def test_a_space_must_say_so_too() -> None:
    with pytest.raises(SettingsError, match="on a Space"):
        read(SPACE_ID="owner/name")
    settings = read(SPACE_ID="owner/name", INSECURE_ALLOW_PUBLIC="1")
    assert (settings.host, settings.port) == ("0.0.0.0", 7860)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"PORT": "70000"}, ["PORT=70000", "65535"]),
        ({"PORT": "80.5"}, ["PORT=80.5", "integer"]),
        ({"UPLOAD_LIMIT_MB": "nan"}, ["UPLOAD_LIMIT_MB", "256"]),
        ({"LEASE_SECONDS": "0"}, ["LEASE_SECONDS=0", "60"]),
        ({"LABELS": "labels.jsonl"}, ["LABELS", "labels.jsonl", "revision=file"]),
        ({"LABELS": "demo=x"}, ["LABELS", "demo", "another name"]),
        ({"LABELS": "v2=a,v2=b"}, ["LABELS", "v2", "twice"]),
        ({"REPLICA_URL": "/r"}, ["REPLICA_URL needs RECEIPT_KEY", "openssl rand"]),
        ({"INSECURE_ALLOW_PUBLIC": "maybe"}, ["INSECURE_ALLOW_PUBLIC=maybe", "INSECURE_ALLOW_PUBLIC=1"]),
        ({"DATABASE_URL": "mysql://u:secret@h/d"}, ["DATABASE_URL", "postgresql://"]),
        ({"AUDIT_DATASET": "https://hub/x"}, ["AUDIT_DATASET", "owner/name"]),
        ({"LABELS": SEVERAL, "ITEMS_FILE": "mm-rlhf-rewardbench"}, ["ITEMS_FILE", "benchmark=file"]),
        ({"LABELS": SEVERAL, "ITEMS_FILE": "mm-rlhf-rewardbench=/nowhere"}, ["ITEMS_FILE", "maintenance items"]),
        ({"LABELS": "v2=a", "ITEMS_FILE": f"other={__file__}"}, ["ITEMS_FILE names other", "vl-rewardbench"]),
        (
            {"LABELS": "v2=a", "BENCHMARKS": "mm-rlhf-rewardbench"},
            ["BENCHMARKS names mm", "LABELS=mm-rlhf-rewardbench/"],
        ),
        ({"LABELS": "v2=a", "BENCHMARKS": "vl-rewardbench,demo"}, ["BENCHMARKS names demo", "leave LABELS out"]),
        ({"HIDDEN_LABELS": "v3"}, ["HIDDEN_LABELS names v3", "leave it out"]),
        ({"BENCHMARKS": "vl-rewardbench"}, ["BENCHMARKS names vl-rewardbench", "no labels"]),
        ({"LABELS": "nothing/v1=a"}, ["nothing", "known", "BENCHMARK_DEFINITIONS"]),
        ({"LABELS": SEVERAL, "HIDDEN_LABELS": "multimodal-rewardbench/v1"}, ["HIDDEN_LABELS", "public"]),
    ],
)
def test_a_wrong_setting_is_named_together_with_the_remedy(environ: dict[str, str], words: list[str]) -> None:
    with pytest.raises(SettingsError) as caught:
        read(**environ)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_postgresql_address_gets_its_driver() -> None:
    for scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        assert read(DATABASE_URL=f"{scheme}://u@h/d").database_url == "postgresql+psycopg://u@h/d"


def test_what_is_read_is_what_is_documented() -> None:
    asked: set[str] = set()

    class Spy(dict[str, str]):
        def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
            asked.add(key)
            return super().get(key, default)

    Settings.from_env(Spy(IDENTITY="local"))
    assert asked == {*SETTING_NAMES, *SPACE_NAMES}
    assert len(SETTING_NAMES) <= 35, "a constant where nobody changes it"
    text = (Path(__file__).parents[1] / "docs/settings.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in SPACE_NAMES)


def test_the_environment_of_the_process_is_no_second_way_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "1234")
    assert read().port == 7860


def test_secrets_of_the_web_process_are_no_settings_of_the_worker() -> None:
    secrets = {"SESSION_SECRET", "OIDC_CLIENT_SECRET", "OAUTH_CLIENT_SECRET", "RECEIPT_KEY"}
    assert set(SECRET_NAMES) == {*secrets, "METRICS_TOKEN", "SMTP_URL"}
    assert not {name.upper() for name in WorkerSettings.model_fields} & set(SECRET_NAMES)


SECRET = "Qm8fXo2nT4sVb7Zc1Kd9Lw3Rj6Hy5Gp0AeUiBtNx"
GUESSES = ("x" * 64, "changeme-changeme-changeme-changeme", "replace-me-with-32-random-bytes-please")
NO_ADDRESSES = (
    *("http://board.example", "https://board.example/path", "https://me@board.example", "board.example"),
    *("https://board.example:443", "https://Board.example"),
)
OPENID = {"OIDC_CLIENT_ID": "id", "PUBLIC_URL": "https://board.example", "SESSION_SECRET": SECRET}


def test_a_client_id_turns_sign_in_on_for_any_address() -> None:
    settings = read(HOST="0.0.0.0", OIDC_CLIENT_SECRET="s", OWNERS="ann, bob", MAINTAINERS="cy", **OPENID)
    found = settings.identity
    assert (found.mode, found.client_id, found.client_secret) == (Mode.OPENID, "id", "s")
    assert (found.issuer, found.owners, found.maintainers) == ("https://huggingface.co", ("ann", "bob"), ("cy",))
    assert found.session_secrets == (SECRET,)
    assert read(IDENTITY="local", **OPENID).identity.mode is Mode.LOCAL


def test_a_space_brings_its_own_client_address_and_proxies() -> None:
    settings = read(
        SPACE_ID="owner/name",
        SPACE_HOST="Owner-Name.hf.space",
        OAUTH_CLIENT_ID="space",
        OAUTH_CLIENT_SECRET="s",
        OPENID_PROVIDER_URL="https://huggingface.co/",
        SESSION_SECRET=SECRET,
    )
    found = settings.identity
    assert (found.client_id, found.client_secret, found.issuer) == ("space", "s", "https://huggingface.co")
    assert found.public_url == "https://owner-name.hf.space"
    assert settings.trusted_proxies == ("10.0.0.0/8",)
    assert settings.frame_ancestors == read(**OPENID).frame_ancestors == ("https://huggingface.co",)
    assert read(SPACE_ID="o/n", HOST="127.0.0.1", IDENTITY="local").frame_ancestors == ()
    assert read(SPACE_ID="o/n", OAUTH_CLIENT_ID="space", **OPENID).identity.client_id == "id"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"SESSION_SECRET": ""}, "SESSION_SECRET is missing"),
        ({"SMTP_URL": "mail.example?from=a@b.example"}, "SMTP_URL names no mail server"),
        ({"SMTP_URL": "smtps://mail.example?from=board"}, "SMTP_URL names no mail server, or no sender"),
        ({"SESSION_SECRET": "short"}, "SESSION_SECRET is shorter"),
        ({"SESSION_SECRET": "secret" * 10}, "others know or can guess"),
        ({"SESSION_SECRET": f"{SECRET},short"}, "SESSION_SECRET is shorter"),
        ({"PUBLIC_URL": ""}, "PUBLIC_URL is missing"),
        *(({"SESSION_SECRET": guess}, "SESSION_SECRET") for guess in GUESSES),
        *(({"PUBLIC_URL": url}, "PUBLIC_URL") for url in NO_ADDRESSES),
        ({"OIDC_ISSUER": "http://issuer.example"}, "OIDC_ISSUER"),
        ({"IDENTITY": "none"}, "IDENTITY=none"),
        ({"IDENTITY": "openid", "OIDC_CLIENT_ID": ""}, "OIDC_CLIENT_ID is missing"),
        ({"TRUSTED_PROXIES": "*"}, "TRUSTED_PROXIES"),
        ({"TRUSTED_PROXIES": "10.0.0.1,proxy.example"}, "proxy.example"),
        ({"TRUSTED_PROXIES": "10.0.0.0/7"}, "at most a /8"),
        ({"TRUSTED_PROXIES": "2000::/3"}, "TRUSTED_PROXIES"),
        ({"QUOTA_PER_DAY": "-1"}, "QUOTA_PER_DAY=-1"),
    ],
)
def test_sign_in_that_would_let_the_wrong_people_in_does_not_start(changes: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(**{**OPENID, **changes})
    assert words in str(caught.value)
    assert not {"secretsecret", *GUESSES} & set(str(caught.value).split())


def test_hidden_labels_are_among_those_that_are_configured() -> None:
    assert read(LABELS="v2=a,v3=b", HIDDEN_LABELS=" v3 ").served[0].hidden_labels == {"v3": "hidden"}
    (served,) = read(LABELS="v2=a,v3=b,v4=c", HIDDEN_LABELS="v3:public, v4:categories,v2").served
    assert served.hidden_labels == {"v3": "public", "v4": "hidden:categories", "v2": "hidden"}
    for wrong in ("v2:overall", "v2:", "v2:all"):
        with pytest.raises(SettingsError, match="one of public, categories, hidden"):
            read(LABELS="v2=a", HIDDEN_LABELS=wrong)
    with pytest.raises(SettingsError, match="names v2 twice"):
        read(LABELS="v2=a", HIDDEN_LABELS="v2,v2:public")
    with pytest.raises(SettingsError, match="HIDDEN_LABELS names v4"):
        read(LABELS="v2=a", HIDDEN_LABELS="v4")


def test_every_benchmark_with_labels_is_served_and_vl_rewardbench_is_the_first() -> None:
    served = read(LABELS=SEVERAL).served
    assert [one.id for one in served] == ["vl-rewardbench", "multimodal-rewardbench", "mm-rlhf-rewardbench"]
    assert [one.label_revision for one in served] == ["v2", "v1", "v1"]
    assert [len(one.label_specs) for one in served] == [2, 1, 1]
    chosen = read(LABELS=SEVERAL, BENCHMARKS="mm-rlhf-rewardbench, multimodal-rewardbench")
    assert [one.id for one in chosen.served] == ["mm-rlhf-rewardbench", "multimodal-rewardbench"]
    assert chosen.spec.id == "mm-rlhf-rewardbench"


def test_names_of_revisions_may_name_their_benchmark() -> None:
    labels = "v2=/v,vl-rewardbench/v3=/w,mm-rlhf-rewardbench/v1=/a,mm-rlhf-rewardbench/v9=/b"
    settings = read(LABELS=labels, HIDDEN_LABELS="v3")
    assert [one.label_revision for one in settings.served] == ["v2", "v1"]
    assert [dict(one.hidden_labels) for one in settings.served] == [{"v3": "hidden"}, {}]


def test_each_benchmark_may_have_a_file_of_texts(tmp_path: Path) -> None:
    first, other = (tmp_path / name for name in ("first.jsonl", "other.jsonl"))
    for file in (first, other):
        file.write_text("")
    settings = read(LABELS=SEVERAL, ITEMS_FILE=f"{first},mm-rlhf-rewardbench={other}")
    assert [one.item_texts_path for one in settings.served] == [first, None, other]


def test_secrets_of_receipts_and_heads_are_shown_nowhere_and_the_key_is_no_workers_business() -> None:
    settings = read(RECEIPT_KEY=" the key ", LABELS_TOKEN="the token", AUDIT_DATASET="owner/audit", DATA_DIR="/d")
    assert settings.receipt_key.get_secret_value() == "the key"
    assert settings.labels_token.get_secret_value() == "the token"
    assert settings.audit_dataset == "owner/audit"
    assert "the key" not in repr(settings)
    assert "the token" not in repr(settings)
    assert "RECEIPT_KEY" in SECRET_NAMES
