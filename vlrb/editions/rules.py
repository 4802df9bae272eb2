"""Filter rules: which pairs stay, given every run's verdict. Pure.

A rule is an expression of pandas about shares: ``wrong``, of runs that prefer the response that people reject;
``judges_wrong``, of judges that are wrong in more than half of their runs; ``unstable``, of judges that prefer one
response in one order and the other in the other order, each by more than half of the votes in that order. So a rule
means the same for some of the judges or runs. Undecided is not wrong.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vlrb.arrays import BoolArray
from vlrb.editions.errors import CurateError
from vlrb.editions.runs import RunVerdicts

WRONG_IN_ALL = "wrong == 1"


def kept_by(rule: str, verdicts: RunVerdicts) -> BoolArray:
    """Return which pairs stay: (pairs,).

    Raises:
        CurateError: the expression is none.
    """
    import pandas as pd

    by_judge = [np.flatnonzero(verdicts.judge == judge) for judge in np.unique(verdicts.judge)]
    shares = {
        "wrong": verdicts.wrong.mean(axis=1),
        "judges_wrong": np.mean([2 * verdicts.wrong[:, runs].sum(axis=1) > len(runs) for runs in by_judge], axis=0),
        "unstable": np.mean([_unstable(verdicts, runs) for runs in by_judge], axis=0),
    }
    try:
        stays = np.asarray(pd.DataFrame(shares).eval(rule))
    except Exception as error:  # whatever an expression can be wrong in
        raise CurateError(f"--rule {rule}: {error}. Known are {', '.join(shares)}.") from None
    if stays.dtype != bool or stays.shape != (len(verdicts.wrong),):
        raise CurateError(f"--rule {rule}: compare a share with a number, such as {WRONG_IN_ALL}.")
    return stays


def _unstable(verdicts: RunVerdicts, runs: npt.NDArray[np.intp]) -> BoolArray:
    """Return where a judge's majorities in the two orders differ."""
    right, wrong, shown_first = verdicts.right[:, runs], verdicts.wrong[:, runs], verdicts.shown[:, runs]
    here = [shown_first == order for order in (0, 1)]
    for_right, for_wrong = (
        [2 * (verdict & shown).sum(axis=1) > shown.sum(axis=1) for shown in here] for verdict in (right, wrong)
    )
    return np.asarray((for_right[0] & for_wrong[1]) | (for_wrong[0] & for_right[1]))
