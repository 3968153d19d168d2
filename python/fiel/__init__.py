"""fiel from Python: start a run, read what it found, write data sets and evaluators.

It calls the same programs as the command line and decides nothing itself: what is accurate, faster or proven is said by `fiel`.

    run = fiel.tune("contract.toml", progress=print)
    print(run)                                  # the table of `fiel show`
    pandas.DataFrame(run.candidates)
"""

from fiel import dataset, evaluator
from fiel._call import Failed, version
from fiel._run import Candidate, Run, resume, tune

__all__ = ["Candidate", "Failed", "Run", "dataset", "evaluator", "resume", "tune", "version"]
