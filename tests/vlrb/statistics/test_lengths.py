"""Words of preferred responses against a slow count."""

from statistics import median

from tests.factories.labels import labels
from tests.factories.specs import VL
from vlrb.benchmarks.items import ItemTable
from vlrb.statistics.lengths import preferred_lengths


def test_a_pair_is_counted_by_the_words_of_the_preferred_response_less_those_of_the_other() -> None:
    items = ItemTable.load(VL)
    truth = labels(items)
    found = preferred_lengths(truth, items)
    for category in VL.category_keys:
        longer = [
            item.words[side] - item.words[1 - side]
            for item, side in zip(items.items, truth.preferred.tolist(), strict=True)
            if item.category == category and side in (0, 1)
        ]
        counts = found[category]["counts"]
        assert (len(longer), median(longer)) == (sum(counts), found[category]["median"])
        assert counts[0] == sum(words <= -110 for words in longer)
        assert counts[5:8] == [
            sum(low <= words <= high for words in longer) for low, high in ((-29, -10), (-9, 9), (10, 29))
        ]
        assert counts[-1] == sum(words >= 110 for words in longer)
