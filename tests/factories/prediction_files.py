"""Prediction files of every format, written from dataset rows and known votes: what the readers must give back."""

import csv
import io
import json
import random
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import openpyxl

PairRows = Sequence[Mapping[str, Any]]
VoteRows = Sequence[Sequence[int]]  # items x K of 0, 1 (stored response), -1 (undecided)

UNDECIDED_TEXT = "Both answers are fine and I cannot choose."


def random_votes(items: int, k: int, *, seed: int = 0) -> list[list[int]]:
    """Return items x K votes, one in eight undecided."""
    dice = random.Random(seed)
    return [[dice.choice((0, 1, 0, 1, 0, 1, 0, -1)) for _ in range(k)] for _ in range(items)]


def verdict_text(vote: int, swapped: int) -> str:
    """Return a judge's text about the answers as shown."""
    return (
        UNDECIDED_TEXT
        if vote < 0
        else f"1. **Accuracy**: fine.\n\nOverall Judgment: Answer {(vote ^ swapped) + 1} is better."
    )


def jsonl(records: Sequence[Any]) -> bytes:
    """Return one record a line."""
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def native_votes(rows: PairRows, votes: VoteRows) -> bytes:
    """Native votes, null for undecided."""
    return jsonl(
        [{"id": r["id"], "votes": [v if v >= 0 else None for v in held]} for r, held in zip(rows, votes, strict=True)]
    )


def native_judgements(rows: PairRows, votes: VoteRows) -> bytes:
    """Native judgements; every second is swapped."""
    records = []
    for row, held in zip(rows, votes, strict=True):
        told = [{"text": verdict_text(v, i % 2), "swapped": bool(i % 2)} for i, v in enumerate(held)]
        records.append({"id": row["id"], "judgements": told})
    return jsonl(records)


def native_scores(rows: PairRows, votes: VoteRows) -> bytes:
    """Native scores; a tie for undecided."""
    return jsonl([{"id": r["id"], "scores": [_scores(v) for v in held]} for r, held in zip(rows, votes, strict=True)])


def official_records(rows: PairRows, votes: VoteRows) -> list[dict[str, Any]]:
    """K records an item; `ranking`, `flag_status` and `filter_number` are lies."""
    dice = random.Random(1)
    records = []
    for row, held in zip(rows, votes, strict=True):
        for vote in held:
            swapped = dice.randint(0, 1)
            meta = {
                "filtering model": "invented/judge",
                "filter_choice": verdict_text(vote, swapped),
                "filter_number": dice.randint(-1, 3),
                "random_number": swapped,
                "flag_status": dice.choice(("agree", "reject")),
            }
            texts = {"id": row["id"], "query": row["query"], "response": list(row["response"])}
            records.append({**texts, "ranking": dice.choice(([0, 1], [1, 0])), "meta": meta, "query_source": ""})
    return records


def official(rows: PairRows, votes: VoteRows) -> bytes:
    """As pandas writes it: compact, with escaped slashes."""
    lines = [json.dumps(r, separators=(",", ":")).replace("/", "\\/") for r in official_records(rows, votes)]
    return "\n".join(lines).encode()


def omni_rrm(rows: PairRows, votes: VoteRows, *, as_shown: bool = False) -> bytes:
    """Official-like, the choice as JSON in the order shown; responses in dataset order, or as shown."""
    records = official_records(rows, votes)
    for number, record in enumerate(records):
        meta = record["meta"]
        vote = votes[number // len(votes[0])][number % len(votes[0])]
        choice = "equal" if vote < 0 else (vote ^ meta["random_number"]) + 1
        meta["filter_choice"] = json.dumps(
            {"score_A": 5, "score_B": 5, "better": choice, "reasoning": "Answer 2 is better"}
        )
        if as_shown and meta["random_number"]:
            record["response"].reverse()
    return jsonl(records)


def lmms_records(rows: PairRows, votes: VoteRows) -> list[dict[str, Any]]:
    """As written since 0.7: text, prompt, no doc."""
    records = []
    for number, (row, held) in enumerate(zip(rows, votes, strict=True)):
        one, two = row["response"]
        swapped = (len(one) + len(two)) % 2
        if swapped:
            one, two = two, one
        prompt = (
            f" You are a capable assistant.\n\nQuestion: {row['query']}\n\nAnswer 1: {one}\n\nAnswer 2: {two}\n\n"
            "Please evaluate both answers based on the following criteria:\n1. Accuracy"
        )
        score = {"question_id": row["id"], "category": "reasoning", "score": float(number % 2)}
        text = verdict_text(held[0], swapped)
        records.append(
            {"doc_id": number, "target": "[1, 0]", "filtered_resps": text, "vlreward_score": score, "input": prompt}
        )
    return records


def lmms_eval(rows: PairRows, votes: VoteRows) -> bytes:
    """Return the current writer."""
    return jsonl(lmms_records(rows, votes))


def lmms_eval_04(rows: PairRows, votes: VoteRows) -> bytes:
    """0.4 to 0.6: a list with one text; here without the prompt, so that the order follows from the item."""
    records = lmms_records(rows, votes)
    for record in records:
        record["filtered_resps"] = [record["filtered_resps"]]
        del record["input"]
    return jsonl(records)


def lmms_eval_03(rows: PairRows, votes: VoteRows) -> bytes:
    """0.3: with the doc, whose ranking is a lie."""
    records = lmms_records(rows, votes)
    for row, record in zip(rows, records, strict=True):
        del record["input"]
        text = record["filtered_resps"]
        doc = {"id": row["id"], "query": row["query"], "response": row["response"], "human_ranking": [1, 0]}
        record.update(
            doc=doc, filtered_resps=[text], resps=[[text + " <think>Overall Judgment: Answer 1 is better.</think>"]]
        )
    return jsonl(records)


def vlmevalkit_records(rows: PairRows, votes: VoteRows) -> list[dict[str, Any]]:
    """Return rows of a prediction table."""
    records = []
    for number, (row, held) in enumerate(zip(rows, votes, strict=True)):
        swapped = (len(row["response"][0]) + len(row["response"][1])) % 2
        records.append(
            {
                "index": number,
                "question": row["query"],
                "response": str(list(row["response"])),
                "answer": "[1, 0]",
                "category": "general",
                "prediction": verdict_text(held[0], swapped),
            }
        )
    return records


def vlmevalkit_json(rows: PairRows, votes: VoteRows) -> bytes:
    """PRED_FORMAT=json."""
    return json.dumps(vlmevalkit_records(rows, votes), indent=4).encode()


def vlmevalkit_tsv(rows: PairRows, votes: VoteRows) -> bytes:
    """PRED_FORMAT=tsv."""
    return tsv(vlmevalkit_records(rows, votes))


def tsv(records: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a table, everything quoted, raw newlines inside cells."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]), delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue().encode()


def vlmevalkit_xlsx(rows: PairRows, votes: VoteRows) -> bytes:
    """Return the default; texts inline."""
    return workbook(vlmevalkit_records(rows, votes))


def workbook(*sheets: Sequence[Mapping[str, Any]], extra: Mapping[str, bytes] | None = None) -> bytes:
    """Return an xlsx of sheets; texts with a leading "=" become formulas, as older writers do."""
    book = openpyxl.Workbook(write_only=True)
    for records in sheets:
        sheet = book.create_sheet()
        sheet.append(list(records[0]))
        for record in records:
            sheet.append([_as_excel_keeps_it(record[name]) for name in records[0]])
    out = io.BytesIO()
    book.save(out)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (extra or {}).items():
            archive.writestr(name, content)
    return out.getvalue()


def _as_excel_keeps_it(value: Any) -> Any:
    """Return a cell with its control characters escaped."""
    return value.replace("\r", "_x000D_").replace("\x0b", "_x000B_") if isinstance(value, str) else value


def merge_to_vlrm(rows: PairRows, votes: VoteRows) -> bytes:
    """`outputs`, with an arg-max that turns ties into 0."""
    records = []
    for row, held in zip(rows, votes, strict=True):
        lie = {"predicted_answer": 0, "ground_truth": [0, 1]}
        records.append({"id": row["id"], "prompts": ["p", "q"], "outputs": _scores(held[0]), **lie})
    return jsonl(records)


def reward_model_exam(rows: PairRows, votes: VoteRows) -> bytes:
    """`score0`, `score1`, with texts."""
    records = []
    for row, held in zip(rows, votes, strict=True):
        first, second = _scores(held[0])
        one, two = row["response"]
        texts = {"query": row["query"], "response0": one, "response1": two}
        records.append(
            {"id": row["id"], "target": 0, "pred": 0, "correct": True, "score0": first, "score1": second, **texts}
        )
    return jsonl(records)


def score_a_b(rows: PairRows, votes: VoteRows) -> bytes:
    """`score_a`, `score_b` in lines."""
    names = ("score_a", "score_b")
    pairs = zip(rows, votes, strict=True)
    return jsonl([{"id": row["id"], **dict(zip(names, _scores(held[0]), strict=True))} for row, held in pairs])


def vl_reward_model(rows: PairRows, votes: VoteRows) -> bytes:
    """Return the judge's variant; null for undecided."""
    results = [
        {
            "id": row["id"],
            "label": 1,
            "prediction": held[0] if held[0] >= 0 else None,
            "correct": True,
            "source": "COCO",
        }
        for row, held in zip(rows, votes, strict=True)
    ]
    return json.dumps({"summary": {"accuracy": 1.0}, "results": results}, indent=2).encode()


def r1_reward(rows: PairRows, votes: VoteRows, *, reverse: bool = False) -> bytes:
    """R1-Reward, or with ``reverse`` Proxy-GRM; `chosen` is stored response 1 in every third row."""
    records = []
    for number, (row, held) in enumerate(zip(rows, votes, strict=True)):
        chosen, swapped = int(number % 3 == 0), int(reverse and number % 2 == 0)
        rewards = [[0, 0] if v < 0 else [1, 0] if (v ^ chosen ^ swapped) == 0 else [0, 1] for v in held]
        record = {
            "id": row["id"],
            "prompt": row["query"],
            "chosen": row["response"][chosen],
            "rejected": row["response"][1 - chosen],
            "rewards": rewards if len(rewards) > 1 else rewards[0],
        }
        records.append({**record, "reverse": bool(swapped)} if reverse else record)
    return jsonl(records)


def proxy_grm(rows: PairRows, votes: VoteRows) -> bytes:
    """With swapped prompts."""
    return r1_reward(rows, votes, reverse=True)


def jev(rows: PairRows, votes: VoteRows) -> bytes:
    """Probabilities; `first_is_better` is a lie."""
    probability = {0: 0.93, 1: 0.2, -1: 0.5}
    found = [
        {
            "id": row["id"],
            "domain": "x",
            "first_is_better": True,
            "p_first_better": probability[held[0]],
            "order_agree": True,
        }
        for row, held in zip(rows, votes, strict=True)
    ]
    return json.dumps({"seconds": 1.5, "rows": found}).encode()


def _scores(vote: int) -> list[float]:
    return [1.25, 1.25] if vote < 0 else [2.5, -1.0] if vote == 0 else [-3, 0.25]


Writer = Callable[[PairRows, VoteRows], bytes]
MANY_VOTES: dict[str, tuple[str, Writer]] = {
    "native votes": ("native", native_votes),
    "native judgements": ("native", native_judgements),
    "native scores": ("native", native_scores),
    "official": ("official", official),
    "omni-rrm": ("omni-rrm", omni_rrm),
    "omni-rrm as shown": ("omni-rrm", lambda rows, votes: omni_rrm(rows, votes, as_shown=True)),
    "r1-reward": ("r1-reward", r1_reward),
    "proxy-grm": ("proxy-grm", proxy_grm),
}
ONE_VOTE: dict[str, tuple[str, Writer]] = {
    "lmms-eval": ("lmms-eval", lmms_eval),
    "lmms-eval 0.4": ("lmms-eval", lmms_eval_04),
    "lmms-eval 0.3": ("lmms-eval", lmms_eval_03),
    "vlmevalkit json": ("vlmevalkit", vlmevalkit_json),
    "vlmevalkit tsv": ("vlmevalkit", vlmevalkit_tsv),
    "vlmevalkit xlsx": ("vlmevalkit", vlmevalkit_xlsx),
    "MergeToVLRM": ("two-score", merge_to_vlrm),
    "vl-reward-model-exam": ("two-score", reward_model_exam),
    "score_a, score_b": ("two-score", score_a_b),
    "VL-Reward-Model": ("vl-reward-model", vl_reward_model),
    "JEV": ("jev", jev),
}


def shuffled(value: Any, dice: random.Random) -> Any:
    """Return the same with its keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        dice.shuffle(keys)
        return {key: shuffled(value[key], dice) for key in keys}
    return value
