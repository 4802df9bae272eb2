"""A label set is a named revision: one preferred response per item, tags where the revision has them, and a digest."""

import pytest

from tests.factories.labels import labels, table
from tests.factories.specs import VL
from vlrb.benchmarks.labels import NOT_LABELLED, error_tags, make_label_set


def test_tags_lose_their_sub_types_and_free_text_and_count_once() -> None:
    raw = [
        "recognition(object)",
        "recognition(text)",
        "hallucination",
        "hallucination",
        "others, common sense, and more",
    ]
    assert error_tags(raw, VL) == {"recognition", "existence", "other"}


def test_an_unknown_tag_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown error tag; known: hallucination") as error:
        error_tags(["style"], VL)
    assert "style" not in str(error.value)


def test_one_flipped_label_or_one_changed_tag_changes_the_digest() -> None:
    items = table()
    plain = labels(items)
    flipped = labels(items, [1 - int(plain.preferred[0]), *plain.preferred[1:].tolist()])
    assert len({plain.digest, flipped.digest, labels(items, tags=False).digest}) == 3
    assert labels(items).digest == plain.digest


def test_an_item_that_a_revision_lacks_is_not_labelled() -> None:
    items = table()
    partial = make_label_set("r2", items, preferred={0: 1, 2: 0}, tags=None)
    assert partial.items == 2
    assert partial.preferred[:3].tolist() == [1, NOT_LABELLED, 0]


def test_a_tag_that_the_benchmark_does_not_have_is_an_error_that_does_not_repeat_it() -> None:
    with pytest.raises(ValueError, match="existence, recognition, attribute, counting, other") as error:
        make_label_set("r2", table(), preferred={0: 1}, tags={0: frozenset({"counting", "blur"})})
    assert "blur" not in str(error.value)
    tagged = make_label_set("r2", table(), preferred={0: 1}, tags={0: frozenset({"counting"})})
    assert tagged.tags is not None and tagged.tags[0] == {"counting"}


def test_a_revision_without_labels_or_with_a_wrong_one_is_an_error() -> None:
    with pytest.raises(ValueError, match="labels no item"):
        make_label_set("r2", table(), preferred={}, tags=None)
    with pytest.raises(ValueError, match="0 or 1"):
        make_label_set("r2", table(), preferred={0: 2}, tags=None)
