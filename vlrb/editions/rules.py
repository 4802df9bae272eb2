"""Filter rules: which pairs stay, given every run's verdict. Pure.

A rule is an expression of pandas about shares: ``wrong``, of runs that prefer the response that people reject;
``judges_wrong``, of judges that are wrong in more than half of their runs. So a rule means the same for some of the
judges or runs. Undecided is not wrong.
"""

from __future__ import annotations

import numpy as np

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
    }
    try:
        stays = np.asarray(pd.DataFrame(shares).eval(rule))
    except Exception as error:  # whatever an expression can be wrong in
        raise CurateError(f"--rule {rule}: {error}. Known are {', '.join(shares)}.") from None
    if stays.dtype != bool or stays.shape != (len(verdicts.wrong),):
        raise CurateError(f"--rule {rule}: compare a share with a number, such as {WRONG_IN_ALL}.")
    return stays
