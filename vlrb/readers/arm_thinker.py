"""ARM-Thinker (InternLM): the row of the benchmark and `judge_result`, whose `model_choice` is 1, 2 or null, the answer
shown; answers are shown as in `preds`. `gt`, `score` and `flag_status` are not read.
"""

from __future__ import annotations

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.predictions.problems import ProblemCollector
from vlrb.readers.base import FileGuide, ParsedFile, PredictionRow, Records, fields_of
from vlrb.votes import UNDECIDED

FORMAT = "arm-thinker"
GUIDE = FileGuide(tool="ARM-Thinker", upload="the result file as written", fields=(("preds",), ("judge_result",)))
_CHOICES = {1: 0, 2: 1, None: UNDECIDED}


def read(records: Records, findings: ProblemCollector, *, spec: BenchmarkSpec) -> ParsedFile:
    """Return the rows of a result file."""
    parsed = ParsedFile(FORMAT, text_field="preds", order_by_texts=True)
    for fields in fields_of(records, findings):
        responses, result = fields.pair("preds"), fields.record.get("judge_result")
        result = result if isinstance(result, dict) else {}
        stated = result.get("model_choice", 0)
        if stated is not None and (type(stated) is not int or stated not in _CHOICES):
            fields.wrong("judge_result.model_choice", stated, wanted=_("1, 2 or null"), code="bad-vote")
        if fields.finish():
            query = fields.optional_text("question")
            row = PredictionRow(fields.line, (_CHOICES[stated],), (0,), fields.id, query, responses)
            parsed.add(row, (result.get("model_resp"),))
    return parsed
