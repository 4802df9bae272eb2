"""A synthetic benchmark of the same shape as VL-RewardBench, and six simulated judges for it.

Nothing here is real: the images are invented, the texts come from templates, the judges are draws from a model with
an ability per source, a difficulty per pair that they share, and a habit each (a favourite position, indecision).
The same seed gives the same bytes. Nothing is read or written; the caller stores what is returned.
"""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from vlrb.arrays import FloatArray
from vlrb.benchmarks.items import ItemTable, build_table
from vlrb.benchmarks.labels import LabelSet, error_tags, make_label_set, preferred_index
from vlrb.benchmarks.spec import DEMO, BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec

SEED = 20241126
BENCHMARK = REVISION = DEMO
DemoRow = dict[str, Any]


def demo_spec() -> BenchmarkSpec:
    """Return the definition of the demo."""
    return load_spec(BENCHMARK)


@cache
def _plan() -> Mapping[str, Any]:
    """Return what the definition says about its generator: sources, errors, tag lists, judges."""
    return tomllib.loads((demo_spec().read("generator.toml") or b"").decode())


# Texts -------------------------------------------------------------------------------------------------------------

_PLACES = (
    "a harbour at low tide", "a night market", "a hillside vineyard", "a school gym", "an old library",
    "a train platform", "a rooftop garden", "a fishing village", "a bakery", "a snowy car park", "a museum hall",
    "a campsite by a lake", "a print shop", "a greenhouse", "a ferry deck", "a mountain hut", "a tiled courtyard",
    "a repair workshop", "a playground", "a desert road", "a concert stage", "a hospital corridor",
    "a beach promenade", "a farmyard", "a tram stop", "a small kitchen",
)  # fmt: skip
_THINGS = (
    "bicycle", "lantern", "umbrella", "suitcase", "kettle", "ladder", "basket", "bench", "scooter", "teapot",
    "violin", "crate", "barrel", "cushion", "helmet", "clock", "mirror", "telescope", "wheelbarrow", "kite", "drum",
    "vase", "broom", "backpack", "rowing boat", "traffic cone", "chessboard", "birdcage", "typewriter", "candle",
    "watering can", "guitar", "globe", "skateboard", "picture frame", "parasol", "bucket", "anvil", "sewing machine",
    "sledge",
)  # fmt: skip
_COLOURS = (
    "red", "blue", "green", "yellow", "white", "black", "orange", "purple", "grey", "brown", "turquoise", "striped",
)  # fmt: skip
_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
)  # fmt: skip
_RELATIONS = (
    "to the left of", "to the right of", "behind", "in front of", "just below", "above", "leaning against",
    "partly hidden by",
)  # fmt: skip
_SIGNS = (
    "OPEN UNTIL SIX", "MIND THE STEP", "FRESH TODAY", "NO ENTRY", "PLATFORM 4", "LOST AND FOUND", "QUIET PLEASE",
    "TICKETS HERE", "WET PAINT", "EXIT", "SUMMER SALE", "ROOM 12", "HANDLE WITH CARE", "WAY OUT", "STAFF ONLY",
    "PLEASE RING TWICE",
)  # fmt: skip
_LIGHT = (
    "The light is soft and comes from the left.", "Long shadows suggest late afternoon.",
    "It has been raining and the ground shines.", "The background is slightly out of focus.",
    "The scene looks calm and tidy.", "A window lets in bright daylight.",
    "The picture seems to be taken from above.", "Some dust hangs in the air.",
)  # fmt: skip
_REMARKS = (
    "Overall the picture feels ordinary and unposed.", "Together this gives an impression of everyday life.",
    "Nothing else stands out.", "The composition leads the eye to the middle.",
    "It could be a photograph from a local paper.",
)  # fmt: skip
_OFF_TOPIC = (
    "Such scenes are known to bring good luck.", "The photographer must have been in a hurry, so the picture is old.",
    "Because of the colours it has to be a Tuesday.", "This proves that the owner lives nearby.",
)  # fmt: skip
_OTHER_NOTES = (
    "common sense", "logics", "response contradicts itself", "draws an unfounded conclusion",
    "does not answer the question",
)  # fmt: skip
_DESCRIBE = (
    "Describe this image in detail.", "What is happening in this picture?",
    "Please give a detailed description of the image.", "What do you see here?",
    "Tell me about everything in the photo.", "Explain the visual content of the image at length.",
)  # fmt: skip
_ASK = (
    "Write a short caption for this picture and say what it rests on.",
    "Would this be a good place to meet a friend? Why?", "I cannot see the photo well. What is in it?",
    "Could you turn this picture into the opening of a story?", "What should I tidy up first here?",
    "Is there anything in this photo that could be sold?", "Describe the picture as you would to a child.",
    "Which object would you notice first, and why?",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scene:
    """An invented image of a place. `things`: number, colour, noun; the second stands in `relation` to the first."""

    place: str
    things: tuple[tuple[int, str, str], ...]  # number, colour, noun
    relation: str
    sign: str


@dataclass(frozen=True, slots=True)
class Exercise:
    """A small exercise about a figure. `numbers`: what the figure shows, by name."""

    question: str
    steps: tuple[str, ...]
    answer: int
    unit: str
    kind: str  # of figure: rectangle, triangle, bars or circuit
    numbers: Mapping[str, int]


def _scene(dice: random.Random) -> Scene:
    nouns = dice.sample(_THINGS, 4)
    things = tuple((dice.randint(1, 9), dice.choice(_COLOURS), noun) for noun in nouns)
    return Scene(dice.choice(_PLACES), things, relation=dice.choice(_RELATIONS), sign=dice.choice(_SIGNS))


def _other(dice: random.Random, options: Sequence[str], *, than: Sequence[str]) -> str:
    return dice.choice([option for option in options if option not in than])


def _spoil(scene: Scene, tag: str, *, dice: random.Random) -> Scene:
    """Return the scene as somebody sees it who makes the error of a raw tag. "others" errors are not about the
    image."""
    first, *rest = scene.things
    number, colour, noun = first
    nouns = [thing[2] for thing in scene.things]
    match _plan()["errors"].get(tag.split(",")[0]):
        case "more":
            invented = (dice.randint(1, 4), dice.choice(_COLOURS), _other(dice, _THINGS, than=nouns))
            return replace(scene, things=(first, invented, *rest))
        case "relation":
            return replace(scene, relation=_other(dice, _RELATIONS, than=[scene.relation]))
        case "sign":
            return replace(scene, sign=_other(dice, _SIGNS, than=[scene.sign]))
        case "place":
            return replace(scene, place=_other(dice, _PLACES, than=[scene.place]))
        case "colour":
            return replace(scene, things=((number, _other(dice, _COLOURS, than=[colour]), noun), *rest))
        case "number":
            return replace(scene, things=((number % 9 + 1, colour, noun), *rest))
        case "noun":
            return replace(scene, things=((number, colour, _other(dice, _THINGS, than=nouns)), *rest))
    return scene


def _several(number: int, colour: str, *, noun: str) -> str:
    if number == 1:
        return f"{'an' if colour[0] in 'aeiou' else 'a'} {colour} {noun}"
    return f"{_NUMBERS[number]} {colour} {noun}s"


def _description(scene: Scene, sentences: int, *, dice: random.Random) -> str:
    """Return the first so many sentences about a scene, in one of several wordings."""
    things = [_several(number, colour, noun=noun) for number, colour, noun in scene.things]
    place = scene.place
    number, _, noun = scene.things[0]
    near = f"{things[1]} {scene.relation} the {noun}{'' if number == 1 else 's'}"
    text = [
        dice.choice(
            (f"The image shows {place} with {things[0]}.", f"In {place} there {_is(scene.things[0])} {things[0]}.")
        ),
        dice.choice((f"One can see {near}.", f"There {_is(scene.things[1])} {near}.", f"The photo also has {near}.")),
        dice.choice((f'A sign reads "{scene.sign}".', f'The words "{scene.sign}" are written on a board.')),
        dice.choice(
            (f"Further back I notice {things[2]}.", f"In the background there {_is(scene.things[2])} {things[2]}.")
        ),
        dice.choice(_LIGHT),
        dice.choice((f"Near the edge {_is(scene.things[3])} {things[3]}.", f"On one side I can make out {things[3]}.")),
        dice.choice(_REMARKS),
    ]
    return " ".join(text[:sentences])


def _is(thing: tuple[int, str, str]) -> str:
    return "is" if thing[0] == 1 else "are"


def _described_pair(
    source: Mapping[str, Any], tags: Sequence[str], *, dice: random.Random
) -> tuple[str, str, str, Scene]:
    """(query, preferred, other, image) of a described image; the other one makes the errors of the tags."""
    least, most = source.get("sentences", (3, 6))
    scene = _scene(dice)
    wrong = scene
    for tag in tags or ["attribute"]:
        wrong = _spoil(wrong, tag, dice=dice)
    length = dice.randint(least, most)
    preferred = _description(scene, length, dice=dice)
    other = _description(wrong, max(2, length - dice.choice((0, 0, 0, 1))), dice=dice)
    if any(tag.startswith("others") for tag in tags) or scene == wrong:
        other += " " + dice.choice(_OFF_TOPIC)
    query = dice.choice(_ASK if source.get("ask") else _DESCRIBE)
    if source.get("asks_around") and dice.random() < 0.4:
        query = f"What can be seen around the {scene.things[0][2]}?"
    return query, preferred, other, scene


def _rectangle(dice: random.Random) -> Exercise:
    a, b = dice.randint(3, 40), dice.randint(3, 40)
    return Exercise(
        f"The rectangle in the figure has sides {a} cm and {b} cm. What is its area?",
        (
            f"The figure shows a rectangle with sides {a} cm and {b} cm.",
            "The area of a rectangle is the product of its sides.",
        ),
        answer=a * b,
        unit="square centimetres",
        kind="rectangle",
        numbers={"a": a, "b": b},
    )


def _triangle(dice: random.Random) -> Exercise:
    a, b = dice.randint(20, 85), dice.randint(20, 85)
    return Exercise(
        f"In triangle ABC the angle at A is {a} degrees and at B it is {b} degrees. How large is the angle at C?",
        (
            f"From the figure we read the angles {a} and {b} degrees.",
            "The angles of a triangle add up to 180 degrees.",
        ),
        answer=180 - a - b,
        unit="degrees",
        kind="triangle",
        numbers={"A": a, "B": b},
    )


def _bars(dice: random.Random) -> Exercise:
    values = [dice.randint(10, 90) for _ in range(4)]
    names = dice.sample(["Arden", "Brisk", "Corva", "Delmo", "Estra", "Fenn"], 4)
    listed = ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
    return Exercise(
        f"The bar chart gives {listed} (in thousands). What is the difference between the highest and the lowest bar?",
        (
            f"The bars read {listed}.",
            f"The highest bar is {max(values)} and the lowest {min(values)}.",
        ),
        answer=max(values) - min(values),
        unit="thousand",
        kind="bars",
        numbers=dict(zip(names, values, strict=True)),
    )


def _circuit(dice: random.Random) -> Exercise:
    current, resistance = dice.randint(2, 12), dice.randint(3, 48)
    return Exercise(
        f"A current of {current} A flows through the resistor of {resistance} ohm in the diagram. Find the voltage.",
        (
            f"The diagram labels the resistor {resistance} ohm and the current {current} A.",
            "Ohm's law says that voltage is current times resistance.",
        ),
        answer=current * resistance,
        unit="volts",
        kind="circuit",
        numbers={"A": current, "ohm": resistance},
    )


_PROBLEMS: Mapping[str, Callable[[random.Random], Exercise]] = {
    "rectangle": _rectangle,
    "triangle": _triangle,
    "bars": _bars,
    "circuit": _circuit,
}


def _solved_pair(source: Mapping[str, Any], dice: random.Random) -> tuple[str, str, str, Exercise, str]:
    """(query, preferred, other, figure, ground truth) of a small problem with four options."""
    problem = _PROBLEMS[dice.choice(source["problems"])](dice)
    answer = problem.answer
    options = [answer, *(answer + slip for slip in dice.sample([-9, -7, -4, -2, 3, 5, 8, 10], 3))]
    dice.shuffle(options)
    letters = dict(zip(options, "ABCD", strict=True))
    query = f"{problem.question}\nOptions: " + ", ".join(f"({letters[value]}) {value}" for value in options)
    wrong = dice.choice([value for value in options if value != answer])
    return (
        query,
        _solution(problem, answer, letter=letters[answer], dice=dice),
        _solution(problem, wrong, letter=letters[wrong], dice=dice),
        problem,
        letters[answer],
    )


def _solution(problem: Exercise, answer: int, *, letter: str, dice: random.Random) -> str:
    text = [
        dice.choice(("Let us go step by step.", "To solve this, I first look at the figure.", "Reading the figure:"))
    ]
    text += problem.steps
    unit = problem.unit
    text.append(dice.choice((f"This gives {answer} {unit}.", f"Carrying this out yields {answer} {unit}.")))
    if dice.random() < 0.5:
        text.append(dice.choice(("A quick check confirms the value.", "No other number in the figure is needed here.")))
    text.append(
        dice.choice((f"The answer is ({letter}) {answer}.", f"So option ({letter}), {answer} {unit}, is correct."))
    )
    return " ".join(text)


# Pairs -------------------------------------------------------------------------------------------------------------


def _tag_deck(dice: random.Random) -> list[list[str]]:
    deck = [
        [tag + dice.choice(_OTHER_NOTES) if tag.endswith(", ") else tag for tag in tags]
        for tags, count in ((tag_list["tags"], tag_list["count"]) for tag_list in _plan()["tag_lists"])
        for _ in range(count)
    ]
    dice.shuffle(deck)
    return deck


def demo_pairs(seed: int = SEED) -> list[DemoRow]:
    """1,250 dataset-shaped rows: id, query, response, human_ranking, models, judge, rationale, query_source,
    ground_truth, human_error_analysis, category, source; and picture, what the image shows (a Scene or a Exercise).

    Sizes per source and error-tag frequencies are those of the real benchmark. Unlike there, either position holds
    the preferred response about equally often, ids are unique, and no two pairs share a text.
    """
    dice = random.Random(seed)  # noqa: S311 (nothing is secret about it)
    deck = _tag_deck(dice)
    rows: list[DemoRow] = []
    seen: set[str] = set()
    for source in _plan()["sources"]:
        for number in range(1, source["size"] + 1):
            tagged = source["kind"] == "described" and number <= source.get("tagged_at_most", number)
            tags = deck.pop() if tagged else None
            rows.append(_row(source, f"demo-{source['key'].lower()}-{number:04}", tags=tags, dice=dice, seen=seen))
    return rows


def _row(
    source: Mapping[str, Any], name: str, *, tags: list[str] | None, dice: random.Random, seen: set[str]
) -> DemoRow:
    """Return one pair whose responses nobody gave before (``seen`` grows)."""
    solved = source["kind"] == "solved"
    picture: Scene | Exercise
    truth = None
    while True:
        if solved:
            query, preferred, other, picture, truth = _solved_pair(source, dice)
        else:
            query, preferred, other, picture = _described_pair(source, tags or (), dice=dice)
        if preferred != other and preferred not in seen and other not in seen:
            break
    seen.update((preferred, other))
    swapped = dice.random() < 0.5
    return {
        "id": name,
        "query": query,
        "response": [other, preferred] if swapped else [preferred, other],
        "human_ranking": [1, 0] if swapped else [0, 1],
        "models": ["template", "template"],
        "judge": "simulated",
        "rationale": None,
        "query_source": None if solved else dice.choice(source["query_sources"]),
        "ground_truth": truth,
        "human_error_analysis": tags,
        "category": demo_spec().source_category[source["key"]],
        "source": source["key"],
        "picture": picture,
    }


def demo_items(pairs: Sequence[Mapping[str, Any]]) -> ItemTable:
    """Return the item table of the pairs, with the one revision "demo"."""
    return build_table(demo_spec(), {REVISION: pairs})


def demo_labels(pairs: Sequence[Mapping[str, Any]], table: ItemTable) -> LabelSet:
    """Return the label set "demo" of the pairs, which are the table's items in its order."""
    preferred = {index: preferred_index(row["human_ranking"]) for index, row in enumerate(pairs)}
    tags = {
        index: error_tags(row["human_error_analysis"], table.spec)
        for index, row in enumerate(pairs)
        if row["human_error_analysis"] is not None
    }
    return make_label_set(REVISION, table, preferred=preferred, tags=tags)


def demo_label_rows(pairs: Sequence[Mapping[str, Any]]) -> list[DemoRow]:
    """Return what a labels file of the demo holds: id, human_ranking, human_error_analysis; no texts."""
    return [{name: row[name] for name in ("id", "human_ranking", "human_error_analysis")} for row in pairs]


# Judges ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SimulatedJudge:
    """A prediction file that nobody's model wrote, and the metadata to submit it with."""

    file_name: str
    data: bytes
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Profile:
    """Behaviour of a judge. Abilities and habits are on the log-odds scale."""

    ability: Mapping[str, float]  # per source
    k: int
    first_bias: float = 0.0  # added to the odds of the response shown first
    undecided: float = 0.0  # chance of no verdict on a pair of average difficulty
    own_view: float = 0.8  # spread of what the judge finds hard and others do not


@dataclass(frozen=True, slots=True)
class _Judgements:
    """Items x K: the stored index preferred or -1, and whether the responses were shown in reverse."""

    votes: npt.NDArray[np.int8]
    swapped: npt.NDArray[np.bool_]

    def shown(self, item: int, vote: int) -> int:
        """1 or 2: the number the preferred answer had when shown; 0 for no verdict."""
        choice = int(self.votes[item, vote])
        return 0 if choice < 0 else 1 + (choice ^ int(self.swapped[item, vote]))


def _profile(judge: Mapping[str, Any]) -> _Profile:
    """Return a judge as the definition states it: abilities by category, or by source where it differs."""
    by_category, by_source = judge["ability"], judge.get("by_source", {})
    ability = {key: by_source.get(key, by_category[kind]) for key, kind in demo_spec().source_category.items()}
    habits = {name: judge[name] for name in ("k", "first_bias", "undecided", "own_view") if name in judge}
    return _Profile(ability, **habits)


def _judge(
    profile: _Profile, pairs: Sequence[DemoRow], *, difficulty: FloatArray, rng: np.random.Generator
) -> _Judgements:
    """Return votes by a logistic model: ability less difficulty, plus or minus the habit of preferring the first
    shown."""
    shape = (len(pairs), profile.k)
    preferred = np.array([row["human_ranking"][0] for row in pairs])[:, np.newaxis]
    ability = np.array([profile.ability[row["source"]] for row in pairs])
    ease = ability - difficulty + profile.own_view * rng.standard_normal(len(pairs))
    swapped = rng.random(shape) < 0.5
    preferred_first = np.where(swapped, 1 - preferred, preferred) == 0
    odds = 2.0 * ease[:, np.newaxis] + np.where(preferred_first, profile.first_bias, -profile.first_bias)
    right = rng.random(shape) < 1 / (1 + np.exp(-odds))
    votes = np.where(right, preferred, 1 - preferred).astype(np.int8)
    # Easy pairs are decided more often than hard ones.
    silence = profile.undecided * 2 / (1 + np.exp(0.9 * ease))
    votes[rng.random(shape) < silence[:, np.newaxis]] = -1
    return _Judgements(votes, swapped)


def _text(first: int, item: int, *, vote: int) -> str:
    """Return what a pairwise judge might write."""
    reasons = (
        "Answer 1 stays close to what can be seen. Answer 2 is fluent.",
        "Both answers address the question; their details differ.",
        "Answer 2 gives more detail, Answer 1 is shorter.",
        "I compared the objects, their number and their position with the image.",
    )
    start = f"**Accuracy**: {reasons[(item * 7 + vote) % 4]}\n\n"
    if not first:
        return start + "Overall Judgment: I cannot tell which of them is better."
    endings = ("Overall Judgment: Answer {} is better.", "**Overall Judgment: Answer {} is slightly better.**")
    return start + endings[(item + vote) % 2].format(first)


def _lines(rows: Sequence[DemoRow]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _native_judgements(pairs: Sequence[DemoRow], judgements: _Judgements) -> bytes:
    k = judgements.votes.shape[1]
    return _lines(
        [
            {
                "id": row["id"],
                "judgements": [
                    {"text": _text(judgements.shown(i, v), i, vote=v), "swapped": bool(judgements.swapped[i, v])}
                    for v in range(k)
                ],
            }
            for i, row in enumerate(pairs)
        ]
    )


def _native_votes(pairs: Sequence[DemoRow], judgements: _Judgements) -> bytes:
    votes = [[None if vote < 0 else vote for vote in row] for row in judgements.votes.tolist()]
    return _lines([{"id": row["id"], "votes": vote} for row, vote in zip(pairs, votes, strict=True)])


def _official(pairs: Sequence[DemoRow], judgements: _Judgements) -> bytes:
    """Return the file as the official inference script writes it: a line per vote, pure ASCII, escaped slashes."""
    lines = []
    for i, row in enumerate(pairs):
        for v in range(judgements.votes.shape[1]):
            verdict, swapped = judgements.shown(i, v), int(judgements.swapped[i, v])
            first, second = row["response"][swapped], row["response"][1 - swapped]
            agrees = judgements.votes[i, v] == row["human_ranking"][0]
            line = {
                **{name: row[name] for name in ("id", "query", "response")},
                "ranking": row["human_ranking"],
                **{name: row[name] for name in ("models", "judge", "rationale")},
                "meta": {
                    "filtering model": "demo/simulated-judge-c",
                    "filter_choice": _text(verdict, i, vote=v),
                    "filter_prompt": f"{row['query']}\n\nAnswer 1: {first}\n\nAnswer 2: {second}\n\n"
                    "Which answer is better?",
                    "filter_number": verdict or -1,
                    "random_number": swapped,
                    "flag_status": "doesntMatch" if not verdict else "agree" if agrees else "reject",
                },
                "query_source": row["query_source"],
            }
            lines.append(json.dumps(line, separators=(",", ":")).replace("/", "\\/") + "\n")
    return "".join(lines).encode()


def _scores(judgements: _Judgements, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Return two scores per pair whose order is the vote; a tie where there is none."""
    base, gap = rng.normal(0.2, 0.8, len(judgements.votes)), rng.exponential(0.7, len(judgements.votes)) + 0.001
    signs = np.choose(judgements.votes[:, 0] + 1, [0.0, 0.5, -0.5])
    return [(round(b + s * g, 4), round(b - s * g, 4)) for b, s, g in zip(base, signs, gap, strict=True)]


def _two_scores(pairs: Sequence[DemoRow], judgements: _Judgements, *, rng: np.random.Generator) -> bytes:
    """Return the file of a scalar reward model: score0 and score1 in stored order."""
    rows = []
    for row, (first, second) in zip(pairs, _scores(judgements, rng), strict=True):
        target, guess = row["human_ranking"][0], int(first < second)
        rows.append(
            {
                "id": row["id"],
                "query_source": row["query_source"],
                "target": target,
                "pred": guess,
                "correct": guess == target,
                "score0": first,
                "score1": second,
                "score_gap_0_minus_1": round(first - second, 4),
                "query": row["query"],
                "response0": row["response"][0],
                "response1": row["response"][1],
            }
        )
    return _lines(rows)


def _summary_and_results(pairs: Sequence[DemoRow], judgements: _Judgements, *, rng: np.random.Generator) -> bytes:
    """Return what VL-Reward-Model writes of a judge: one JSON document, score_a and score_b in stored order."""
    results = []
    for row, (first, second) in zip(pairs, _scores(judgements, rng), strict=True):
        label, guess = row["human_ranking"][0], int(first < second)
        results.append(
            {
                "id": row["id"],
                "pred": guess,
                "label": label,
                "correct": guess == label,
                "score_a": round(50 + 20 * first, 2),
                "score_b": round(50 + 20 * second, 2),
                "source": row["query_source"] or "",
            }
        )
    accuracy = sum(result["correct"] for result in results) / len(results)
    summary = {"accuracy": accuracy, "num_examples": len(results), "by_source": {}, "inputs": ["simulated"]}
    return json.dumps({"summary": summary, "results": results}, indent=2).encode()


def _r1_reward(pairs: Sequence[DemoRow], judgements: _Judgements) -> bytes:
    """Return what R1-Reward writes of K votes: rewards [1, 0] if the chosen one, always shown first, is preferred."""
    rows = []
    for i, row in enumerate(pairs):
        preferred = row["human_ranking"][0]
        wins = [vote == preferred for vote in judgements.votes[i].tolist()]
        rows.append(
            {
                "id": row["id"],
                "prompt": row["query"],
                "chosen": row["response"][preferred],
                "rejected": row["response"][1 - preferred],
                "image": f"images/{row['id']}.jpg",
                "rewards": [[1, 0] if win else [0, 1] for win in wins],
                "critic": [f"<think>Comparing both.</think><answer>{1 if win else 2}</answer>" for win in wins],
            }
        )
    return _lines(rows)


def _cost(tokens_in: int, tokens_out: int, *, price_usd: float, wall_seconds: float, hardware: str) -> DemoRow:
    return {
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "price_usd": price_usd,
        "wall_seconds": wall_seconds,
        "hardware": hardware,
    }


# What the simulated runs would have cost. A closed model tells no hardware, a reward model writes no tokens.
_COSTS: Mapping[str, DemoRow] = {
    "A": _cost(9_400_000, 2_100_000, price_usd=44.5, wall_seconds=5_400, hardware=""),
    "B": _cost(9_400_000, 3_300_000, price_usd=6.2, wall_seconds=9_000, hardware="1 x A100"),
    "C": _cost(5_600_000, 800_000, price_usd=2.4, wall_seconds=3_100, hardware="1 x A100"),
    "D": _cost(3_700_000, 0, price_usd=0.9, wall_seconds=1_250, hardware="1 x L40S"),
    "E": _cost(9_400_000, 1_900_000, price_usd=17.8, wall_seconds=7_700, hardware="4 x A100"),
    "F": _cost(3_700_000, 450_000, price_usd=0.4, wall_seconds=1_900, hardware="1 x L40S"),
}


def _metadata(
    letter: str, kind: str, *, judge_type: str, parameters_b: float, open_weights: bool, notes: str
) -> DemoRow:
    return {
        "model": f"Simulated judge {letter} ({kind})",
        "version": "",
        "organisation": "Demo",
        "judge_type": judge_type,
        "parameters_b": parameters_b,
        "open_weights": open_weights,
        "notes": f"Simulated, not a real model. {notes}",
        **_COSTS[letter],
    }


def _judges_metadata() -> dict[str, DemoRow]:
    pairwise = "generative-pairwise"
    return {
        "A": _metadata(
            "A",
            "pairwise",
            judge_type=pairwise,
            parameters_b=72,
            open_weights=False,
            notes="Texts with the order shown, five per pair.",
        ),
        "B": _metadata(
            "B",
            "critic",
            judge_type="critic",
            parameters_b=7,
            open_weights=True,
            notes="Five votes per pair, written as R1-Reward does.",
        ),
        "C": _metadata(
            "C",
            "favours the first",
            judge_type=pairwise,
            parameters_b=8,
            open_weights=True,
            notes="Prefers whatever is shown first; official script.",
        ),
        "D": _metadata(
            "D",
            "scalar",
            judge_type="scalar",
            parameters_b=7,
            open_weights=True,
            notes="Strong on hallucination only; two scores per pair.",
        ),
        "E": _metadata(
            "E",
            "hesitant",
            judge_type=pairwise,
            parameters_b=32,
            open_weights=True,
            notes="Often gives no verdict: compare strict and paper.",
        ),
        "F": _metadata(
            "F",
            "guesses",
            judge_type="generative-pointwise",
            parameters_b=2,
            open_weights=True,
            notes="Close to chance; written as VL-Reward-Model does.",
        ),
    }


def simulated_judges(pairs: Sequence[DemoRow], seed: int = SEED) -> list[SimulatedJudge]:
    """Six prediction files in six real formats, for the pairs of ``demo_pairs``.

    All judges share the pairs' difficulty, so that their verdicts correlate as real ones do.
    """
    rng = np.random.default_rng(seed)
    difficulty = rng.standard_normal(len(pairs))
    profiles = {name: _profile(judge) for name, judge in _plan()["judges"].items()}
    judgements = {name: _judge(profile, pairs, difficulty=difficulty, rng=rng) for name, profile in profiles.items()}
    metadata_of = _judges_metadata()
    return [
        SimulatedJudge(
            "judge-a.native-judgements.jsonl",
            _native_judgements(pairs, judgements["A"]),
            metadata=metadata_of["A"],
        ),
        SimulatedJudge(
            "judge-b.r1-reward.jsonl",
            _r1_reward(pairs, judgements["B"]),
            metadata=metadata_of["B"],
        ),
        SimulatedJudge(
            "judge-c.official.jsonl",
            _official(pairs, judgements["C"]),
            metadata=metadata_of["C"],
        ),
        SimulatedJudge(
            "judge-d.two-scores.jsonl",
            _two_scores(pairs, judgements["D"], rng=rng),
            metadata=metadata_of["D"],
        ),
        SimulatedJudge(
            "judge-e.native-votes.jsonl",
            _native_votes(pairs, judgements["E"]),
            metadata=metadata_of["E"],
        ),
        SimulatedJudge(
            "judge-f.vl-reward-model.json",
            _summary_and_results(pairs, judgements["F"], rng=rng),
            metadata=metadata_of["F"],
        ),
    ]


def sample_predictions(pairs: Sequence[DemoRow], seed: int = SEED) -> bytes:
    """Return one more prediction file, which the demo does not submit: for people who try the commands."""
    difficulty = np.random.default_rng(seed).standard_normal(len(pairs))
    profile = _profile(_plan()["judges"]["B"])
    return _native_judgements(
        pairs, _judge(profile, pairs, difficulty=difficulty, rng=np.random.default_rng([seed, 1]))
    )
