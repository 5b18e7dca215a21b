"""Many runs over parameters and seeds: a design, an engine that distributes the runs, and one table.

>>> import tempfile
>>> from riprap.sweep import Sweep
>>> sweep = Sweep(function="riprap.sweep.example:fall", parameters={"height": [1.0, 4.0]}, seeds=2, out=tempfile.mkdtemp())
>>> len(sweep), sweep.status().left
(4, 4)
>>> sweep.run_case(0)
'finished'
>>> round(sweep.results()[0].measures["speed"], 2)
4.43
"""

from __future__ import annotations

from .cases import Case
from .errors import Problem, SweepError
from .measures import Measure
from .statistics import Mean, mean
from .study import Counts, Result, Sweep

__all__ = ["Case", "Counts", "Mean", "Measure", "Problem", "Result", "Sweep", "SweepError", "mean"]
