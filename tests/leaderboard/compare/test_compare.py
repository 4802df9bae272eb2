"""Comparing entries: pair by pair where the counts are there, by intervals where not, and what is said about it."""

import re
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest

from leaderboard.compare import separation
from leaderboard.compare import service as compare
from leaderboard.ranking import differences
from leaderboard.ranking.differences import Pair
from leaderboard.ranking.opening import finding
from leaderboard.ranking.reported_results import load_published
from leaderboard.site.cache import BoardVersion
from leaderboard.site.render_context import RenderContext
from tests.factories.pairwise import body, body_of, related
from tests.factories.snapshots import entry, items, label_sets, snapshot
from tests.factories.specs import DEMO, VL
from vlrb.benchmarks.spec_file import load_spec
from vlrb.protocols import category_counts
from vlrb.scoring import Tally
from vlrb.statistics.pairwise import PairwiseArrays, compare_all, pack
from vlrb.statistics.power import pairs_to_separate
from vlrb.statistics.reliability import rerun_error
from vlrb.statistics.uncertainty import ALPHA, Z, holm, mcnemar_exact, unpaired_bounds, wilson

A, B, C, D = (f"e{number:011d}" for number in range(1, 5))
LATE = "e00000000077"
R1, THINK = "r-r1-reward-2505-02835", "r-unifiedreward-think-2505-03318"


@pytest.fixture(scope="module")
def board_version() -> BoardVersion:
    return BoardVersion(
        "s", body(entry(77, 0.6, model="Late")), context=RenderContext(VL), published=load_published(VL)
    )


@pytest.fixture(scope="module")
def relations() -> PairwiseArrays:
    return related()[0].relations


def one_pair(board_version: BoardVersion, relations: PairwiseArrays | None, *ids: str, **rules: Any) -> Pair:
    (pair,) = compare.compare(board_version, ids, relations=relations, **rules).pairs
    return pair


def test_two_judges_are_compared_on_the_same_pairs(board_version: BoardVersion, relations: PairwiseArrays) -> None:
    pair = one_pair(board_version, relations, B, A)
    assert pair.paired
    assert pair.first.id == A, "the one with the higher macro average stands first"
    gap = pair.of("hallucination")
    assert gap is not None and gap.only_first is not None and gap.only_second is not None
    assert gap.delta == pytest.approx((gap.only_first - gap.only_second) / 749)
    assert gap.p == mcnemar_exact(gap.only_first, gap.only_second)
    assert gap.delta == pytest.approx(
        (pair.first.value("hallucination") or 0) - (pair.second.value("hallucination") or 0)
    )


def test_the_clearest_difference_stands_first(board_version: BoardVersion, relations: PairwiseArrays) -> None:
    names = [one.name for one in one_pair(board_version, relations, A, B).differences]
    assert names[:3] == ["macro", "overall", "hallucination"]
    found = compare.compare(board_version, (A, B, C, D), relations=relations)
    gaps = [(gap.separable, abs(gap.delta)) for pair in found.pairs if (gap := pair.of("macro"))]
    assert len(gaps) == 6
    assert gaps == sorted(gaps, reverse=True)


def test_the_sentence_says_who_is_better_where_and_how_surely(
    board_version: BoardVersion, relations: PairwiseArrays
) -> None:
    text = compare.sentence(one_pair(board_version, relations, A, B))
    pattern = (
        r"[\w ]+ two [\w ]+\. Judge A agrees [\w ]+ than Judge B on hallucination \(\+\d+\.\d points, p < \.001\); "
        r"no significant difference on (general and reasoning|reasoning and general)\. .*macro average.*\."
    )
    assert re.fullmatch(pattern, text), text


def test_the_sentence_names_both_sides_where_each_is_better_somewhere(
    board_version: BoardVersion, relations: PairwiseArrays
) -> None:
    text = compare.sentence(one_pair(board_version, relations, B, C))
    assert re.search(r"Judge B agrees .* more often than Judge C on .*, but Judge C agrees with people ", text), text


def test_of_two_that_share_first_place_one_is_ahead_where_these_two_alone_are_looked_at() -> None:
    truth, general = label_sets()["v2"].preferred, np.flatnonzero([one.category == "general" for one in items().items])
    right = np.zeros((25, len(truth)), dtype=bool)
    right[:2] = np.random.default_rng(1).random(len(truth)) < 0.8
    right[0, general[:20]], right[1, general[:20]] = True, False
    right[0, general[20:26]], right[1, general[20:26]] = False, True
    right[2:] = np.random.default_rng(2).random((23, len(truth))) < 0.5
    verdicts = np.where(right, truth, 1 - truth).astype(np.int8)
    names = [f"e{number:011d}" for number in range(1, 26)]
    found = compare_all(names, verdicts[:, :, np.newaxis], labels=label_sets()["v2"], table=items())
    version = BoardVersion(
        "s", body_of(verdicts, (found, pack(found.relations))), context=RenderContext(VL), published=()
    )
    said = str(finding(version.board())[0])
    assert said.startswith("Judge A shares first place with Judge B: ")
    text = compare.sentence(one_pair(version, found.relations, A, B))
    assert "alone" in text and "Judge A is ahead by " in text


@pytest.mark.parametrize("ids", [(A, B), (A, B, C, D)])
def test_p_values_are_adjusted_for_the_differences_of_the_page(
    board_version: BoardVersion, relations: PairwiseArrays, ids: tuple[str, ...]
) -> None:
    found = compare.compare(board_version, ids, relations=relations)
    for of_source in (False, True):
        family = [one for pair in found.pairs for one in pair.differences if one.of_source is of_source]
        expected = holm([one.p or 0.0 for one in family]).tolist()
        assert [one.p_adjusted for one in family] == expected
        assert [one.separable for one in family] == [p < ALPHA for p in expected]
        for one in family:
            assert one.low is not None and one.high is not None and one.p is not None
            assert (one.low > 0 or one.high < 0) == (one.p < ALPHA)


def test_intervals_alone_are_adjusted_for_the_differences_of_their_table_too(board_version: BoardVersion) -> None:
    found = compare.compare(board_version, (A, B, C, D), relations=None)
    table = [one for pair in found.pairs if (one := pair.of("overall")) is not None]
    barely = replace(table[0], delta=0.05, low=0.001, high=0.099, p=None, p_adjusted=None, implied=None)
    assert differences.adjust([barely])[0].separable
    assert not any(one.separable for one in differences.adjust([barely] * 10))
    assert all(one.p_adjusted is None for one in differences.adjust(table)), "nothing is shown that was not tested"


def test_the_page_says_how_many_pairs_separate_two_judges(
    board_version: BoardVersion, relations: PairwiseArrays
) -> None:
    pair = one_pair(board_version, relations, A, B)
    overall, known = pair.of("overall"), separation.separation(pair)
    assert overall and known and overall.only_first is not None and overall.only_second is not None
    assert known.discordant == (overall.only_first + overall.only_second) / 1250
    assert known.needed == pairs_to_separate(overall.delta, discordant=known.discordant)
    said = " ".join(separation.sentences(board_version, pair))
    assert f"about {known.needed:,} pairs" in said and f"{known.discordant:.1%} of 1,250 pairs" in said
    assert separation.separation(one_pair(board_version, None, A, B)) is None
    assert differences.edition_gaps(1247) == [("10%", "2.5"), ("25%", "4.0")]


def test_one_vote_per_pair_is_warned_of_where_the_difference_is_within_that_of_two_runs() -> None:
    several, close, far, apart = entry(1, 0.7, k=5), entry(2, 0.71, k=1), entry(3, 0.7, k=1), entry(4, 0.3, k=1)
    version = BoardVersion("s", snapshot([several, close, far, apart]), context=RenderContext(VL), published=())
    counted = Tally.from_json(several["tallies"]["v2"], VL)
    error = rerun_error(category_counts(counted.agreeing, VL).sum(axis=0))
    assert error is not None and separation.typical_rerun_variance(version, "v2") == error.within
    for ids, warned in (((B, C), True), ((B, D), False)):
        pair = one_pair(version, None, *ids)
        gap = abs(pair.of("overall").delta)  # type: ignore[union-attr]
        assert (gap < Z * sqrt(2) * error.rerun) is warned
        assert len(list(separation.sentences(version, pair))) == warned
    alone = BoardVersion("s", snapshot([close, far]), context=RenderContext(VL), published=())
    assert separation.typical_rerun_variance(alone, "v2") is None, "nobody has several votes"


def test_judges_that_are_alike_are_not_told_apart(board_version: BoardVersion, relations: PairwiseArrays) -> None:
    pair = one_pair(board_version, relations, A, D)
    text = compare.sentence(pair)
    assert "no significant difference between Judge D and Judge A in any category." in text
    assert re.search(r"not significant \(p = (\.\d+|1)\)|same to a tenth", text), text


def test_judges_scored_here_are_offered_before_reported_ones(
    board_version: BoardVersion, relations: PairwiseArrays
) -> None:
    found = compare.compare(board_version, (A,), relations=relations)
    rows = found.board.rows
    tiers = [row.tier for row in compare.offered(found, sorted(rows, key=lambda row: row.tier))]
    assert set(tiers) >= {"scored", "reported"} and tiers == sorted(tiers, key=lambda tier: tier != "scored")
    assert A not in {row.id for row in compare.offered(found, rows)}
    demo = replace(found, board=replace(found.board, spec=DEMO))
    assert {row.tier for row in compare.offered(demo, rows)} == {"scored"}, "no published result beside a simulated one"
    assert len(compare.offered(replace(demo, rows=()), rows)) == len(rows)


def test_a_judge_against_itself_or_nobody_makes_no_pair(board_version: BoardVersion, relations: PairwiseArrays) -> None:
    assert compare.compare(board_version, (A, A, "nobody"), relations=relations).pairs == ()
    assert (
        len(compare.compare(board_version, [f"e{n:011d}" for n in range(1, 7)], relations=relations).rows)
        == compare.MOST
    )


@pytest.mark.parametrize(("other", "words"), [(LATE, "Late is not among them"), (R1, "is a reported result")])
def test_judges_without_paired_counts_are_compared_by_interval_and_the_page_says_so(
    board_version: BoardVersion, relations: PairwiseArrays, other: str, words: str
) -> None:
    pair = one_pair(board_version, relations, A, other)
    assert not pair.paired
    assert words in pair.reason
    overall = pair.of("overall")
    assert overall is not None and overall.p is None and overall.only_first is None
    assert overall.low is not None and overall.high is not None
    assert overall.low < overall.delta < overall.high
    assert not re.search("p [=<]", compare.sentence(pair))


def test_two_separate_intervals_combine_as_newcombe_did() -> None:
    """Newcombe 1998, table II, case (a), method 10: 56/70 against 48/80."""
    low, high = unpaired_bounds(56 / 70, 48 / 80, bounds=wilson(56, 70), others=wilson(48, 80))
    assert (low, high) == (pytest.approx(0.0524, abs=5e-5), pytest.approx(0.3339, abs=5e-5))


def test_categories_that_are_not_the_same_ones_are_not_compared(
    board_version: BoardVersion, relations: PairwiseArrays
) -> None:
    assert [one.name for one in one_pair(board_version, relations, A, R1).differences] == ["overall"]
    under_its_own = one_pair(board_version, relations, A, R1, grouping="rl-in-general")
    assert {one.name for one in under_its_own.differences} >= {"overall", "general", "hallucination", "reasoning"}
    row = board_version.board().find(R1)
    assert row is not None
    assert compare.own_grouping(board_version, row) == "rl-in-general"


def test_published_results_are_not_compared_with_simulated_judges(relations: PairwiseArrays) -> None:
    board_version = BoardVersion(
        "s", body(benchmark="demo"), context=RenderContext(DEMO), published=load_published(DEMO)
    )
    pair = one_pair(board_version, relations, A, R1)
    assert pair.differences == ()
    assert "R1-Reward is a published result" in pair.reason
    assert compare.sentence(pair).endswith("cannot be compared here.")
    assert one_pair(board_version, relations, R1, THINK).of("overall") is not None


def test_labels_that_are_not_public_give_no_counts(board_version: BoardVersion) -> None:
    hidden = related(public=False)[0].relations
    pair = one_pair(board_version, hidden, A, B)
    assert "not public" in pair.reason
    assert {one.name for one in pair.differences} == set(VL.headline_first)
    assert all(one.only_first is None and one.p is None for one in pair.differences)


def test_the_nearest_entries_stand_in_the_order_of_the_board(
    board_version: BoardVersion, relations: PairwiseArrays
) -> None:
    pairs = compare.nearest(board_version, B, relations=relations)
    assert [pair.first.id for pair in pairs] == [B] * 4
    macros = [pair.second.value("macro") or 0 for pair in pairs]
    assert macros == sorted(macros, reverse=True)
    above = pairs[0].of("macro")
    assert above is not None and above.delta < 0, "who is ahead of the entry stands first"
    assert compare.nearest(board_version, "nobody", relations=relations) == ()


def test_of_a_judge_with_several_versions_the_ranked_one_is_a_neighbour() -> None:
    names = [one["id"] for one in body()["entries"]]
    snapshot = {**body(), "relations": {}, "versions": {names[1]: names[0]}}
    board_version = BoardVersion("s", snapshot, context=RenderContext(VL), published=())
    (other,) = [row for row in board_version.board().rows if row.version_of is not None]
    for entry_id in names:
        near = {pair.second.id for pair in compare.nearest(board_version, entry_id, relations=None, count=20)}
        assert near and other.id not in near
        assert entry_id != other.id or other.version_of not in near


def test_votes_that_need_no_judge_are_not_compared_and_the_reason_is_given(relations: PairwiseArrays) -> None:
    board_version = BoardVersion(
        "s", body(entry(90, 0.95, remarks=["one-sided-votes"])), context=RenderContext(VL), published=()
    )
    pair = one_pair(board_version, relations, A, "e00000000090")
    assert "Judge 90 need no judge" in pair.reason
    assert (pair.differences, pair.paired) == ((), False)
    assert compare.sentence(pair).endswith("cannot be compared here.")
    found = compare.compare(board_version, (A, B, "e00000000090"), relations=relations)
    assert [len(one.differences) > 0 for one in found.pairs] == [True, False, False]


def test_a_result_of_a_judge_that_was_given_the_answer_is_compared_with_nobody() -> None:
    spec = load_spec("mm-rlhf-rewardbench")
    published = load_published(spec)
    board_version = BoardVersion("s", snapshot([], spec.id), context=RenderContext(spec), published=published)
    oracle, other = (next(one.id for one in published if one.oracle is given) for given in (True, False))
    pair = one_pair(board_version, None, oracle, other)
    assert "was given the answer" in pair.reason and pair.differences == ()


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0, "p < .001"), (0.00099, "p < .001"), (0.0041, "p = .004"), (0.0496, "p = .0496"), (0.0504, "p = .0504"),
     (0.048, "p = .048"), (0.32, "p = .32"), (0.999, "p = 1"), (1.0, "p = 1")],
)  # fmt: skip
def test_p_values_are_printed_as_in_papers(p: float, text: str) -> None:
    assert compare.p_text(p) == text


def test_points_have_one_decimal_and_a_real_minus() -> None:
    assert compare.points(0.0314, signed=True) == "+3.1"
    assert compare.points(-0.0314, signed=True) == "−3.1"
    assert compare.points(0.0001, signed=True) == "0.0"
