"""Receipts as JWS: one key, one signature for the same facts; and a private key that stays where it is."""

from __future__ import annotations

import base64
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from receipts.jws import FILE_NAME, Signer, open_signer
from vlrb.client.jws import KeyUnusable, NoReceipt, event_of, is_signed, key_id_of, read, read_keys

# RFC 8032, section 7.1, test 1: secret and public key
SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")


@pytest.fixture
def signer() -> Signer:
    return Signer.parse(base64.b64encode(SEED).decode())


def test_the_keys_are_those_of_the_standard(signer: Signer) -> None:
    assert signer.public_key["x"] == base64.urlsafe_b64encode(PUBLIC).decode().rstrip("=")
    assert signer.key_id == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"  # RFC 8037, appendix A.3


def test_a_receipt_is_read_and_its_signature_checked_with_the_published_keys(signer: Signer) -> None:
    receipt, keys = signer.sign({"event": "ü", "n": [0.586, None]}), read_keys({"keys": [signer.public_key]})
    assert receipt == signer.sign({"event": "ü", "n": [0.586, None]})
    assert read(receipt) == {"event": "ü", "n": [0.586, None]}
    assert (is_signed(receipt, keys), key_id_of(receipt)) == (True, signer.key_id)


def test_a_change_of_anything_breaks_the_signature(signer: Signer) -> None:
    keys = read_keys({"keys": [signer.public_key]})
    header, payload, signature = signer.sign({"score": 0.5}).split(".")
    _, other, _ = signer.sign({"score": 0.6}).split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    for changed in (
        f"{header}.{other}.{signature}",
        f"{header}.{payload}.{signature[::-1]}",
        f"{header}.{payload}.",
        f"{none}.{payload}.",
        f"{header}.{payload}",
        "",
    ):
        assert not is_signed(changed, keys), changed
    assert not is_signed(Signer.parse(base64.b64encode(bytes(32)).decode()).sign({"score": 0.5}), keys)


@pytest.mark.parametrize("given", [None, [], {}, {"keys": 1}, {"keys": [1]}, {"keys": [{"kty": "OKP"}]}, "no JSON"])
def test_what_is_no_key_is_said_to_be_none(given: object) -> None:
    with pytest.raises(KeyUnusable):
        read_keys(given)


@pytest.mark.parametrize("text", ["", "a.b", "a.b.c", "e30.W10.", "e30.bnVs."])
def test_what_is_no_receipt_is_said_to_be_none(text: str) -> None:
    with pytest.raises(NoReceipt) as none:
        read(text)
    with pytest.raises(NoReceipt) as same:
        event_of(text)
    assert str(same.value) == str(none.value), "not that it names no event"


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:  # several processes that start at once
        names = {one.key_id for one in pool.map(lambda _: open_signer("", tmp_path / "keys"), range(16))}
    assert names == {open_signer("", tmp_path / "keys").key_id}
    assert stat.S_IMODE((tmp_path / "keys" / FILE_NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    assert [path.name for path in (tmp_path / "keys").iterdir()] == [FILE_NAME]


def test_the_setting_comes_before_the_file(tmp_path: Path, signer: Signer) -> None:
    assert open_signer(base64.b64encode(SEED).decode(), tmp_path / "keys").key_id == signer.key_id
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


def test_a_signer_shows_its_key_nowhere(signer: Signer) -> None:
    shown = repr(signer) + str(signer)
    assert base64.b64encode(SEED).decode() not in shown
    assert SEED.hex() not in shown
