"""Signing: one key, one text, one signature; and a private key that stays where it is."""

from __future__ import annotations

import base64
import json
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from receipts.key_file import FILE_NAME, open_signer
from receipts.signing import KeyUnusable, Signer, public_key_json, read_keys, verify_signature

# RFC 8032, section 7.1, test 1: secret and public key
SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def signer() -> Signer:
    return Signer.parse(base64.b64encode(SEED).decode())


def test_the_keys_are_those_of_the_standard(signer: Signer) -> None:
    assert signer.public_key == PUBLIC
    assert signer.key_id == "21fe31dfa154a261"
    assert Signer.parse(signer.pem()).public_key == PUBLIC


def test_the_same_facts_in_any_order_have_the_same_signature(signer: Signer) -> None:
    one = signer.sign({"a": 1, "b": {"x": "ü\u2028", "y": [0.586, None]}})
    two = signer.sign({"b": {"y": [0.586, None], "x": "ü\u2028"}, "a": 1})
    assert one["signature"] == two["signature"]
    assert verify_signature(json.loads(json.dumps(one)), PUBLIC)


def test_a_change_of_anything_breaks_the_signature(signer: Signer) -> None:
    receipt = signer.sign({"score": 0.5, "deep": {"n": 1}, "none": None})
    for changed in (
        {**receipt, "score": 0.6},
        {**receipt, "score": "0.5"},
        {**receipt, "deep": {"n": 2}},
        {**receipt, "more": 1},
        {**receipt, "key_id": "0" * 16},
        {**receipt, "signature": receipt["signature"][::-1]},
        {**receipt, "signature": None},
        {**receipt, "score": float("nan")},
        {name: value for name, value in receipt.items() if name != "none"},
        {name: value for name, value in receipt.items() if name != "signature"},
    ):
        assert not verify_signature(changed, PUBLIC), changed
    assert not verify_signature(receipt, Signer.make().public_key)


def test_published_keys_are_read_back_from_json_and_pem(signer: Signer) -> None:
    shown = public_key_json(signer.public_key)
    assert read_keys({"keys": [shown]}) == read_keys(shown["pem"]) == {signer.key_id: PUBLIC}


@pytest.mark.parametrize(
    "given", [None, [], {}, {"keys": 1}, {"keys": [1]}, {"keys": [{"public_key": "AAAA"}]}, "no PEM"]
)
def test_what_is_no_key_is_said_to_be_none(given: object) -> None:
    with pytest.raises(KeyUnusable):
        read_keys(given)


def test_facts_cannot_bring_their_own_signature(signer: Signer) -> None:
    for name in ("signature", "key_id"):
        with pytest.raises(ValueError, match=name):
            signer.sign({name: "x"})


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:  # several processes that start at once
        names = {one.key_id for one in pool.map(lambda _: open_signer("", tmp_path / "keys"), range(16))}
    assert names == {open_signer("", tmp_path / "keys").key_id}
    assert stat.S_IMODE((tmp_path / "keys" / FILE_NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    assert [path.name for path in (tmp_path / "keys").iterdir()] == [FILE_NAME]


def test_the_setting_comes_before_the_file(tmp_path: Path) -> None:
    assert open_signer(base64.b64encode(SEED).decode(), tmp_path / "keys").public_key == PUBLIC
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize(
    "text",
    ["hunter2-hunter2", base64.b64encode(b"hunter2").decode(), "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END"],
)
def test_a_key_that_cannot_be_used_is_named_and_not_repeated(tmp_path: Path, text: str) -> None:
    with pytest.raises(KeyUnusable, match="RECEIPT_KEY") as refused:
        open_signer(text, tmp_path)
    assert "hunter2" not in str(refused.value)
    assert base64.b64encode(b"hunter2").decode() not in str(refused.value)
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(KeyUnusable, match=FILE_NAME):
        open_signer("", tmp_path)


def test_another_kind_of_key_is_refused() -> None:
    other = X25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(KeyUnusable, match="Ed25519"):
        Signer.parse(other.decode())


def test_a_signer_shows_its_key_nowhere(signer: Signer) -> None:
    shown = repr(signer) + str(signer)
    assert base64.b64encode(SEED).decode() not in shown
    assert SEED.hex() not in shown


def test_checking_receipts_needs_neither_database_nor_pages() -> None:
    code = "import receipts.cli, receipts.payload, sys; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert not {"sqlalchemy", "gradio", "fastapi", "pandas", "httpx"} & set(ran.stdout.split())
