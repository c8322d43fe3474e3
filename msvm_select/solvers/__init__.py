"""Solvers: Dual + start -> Solution, each by a road of its own to the same optimum.

To add one: write its file with a subclass of ``Solver`` and put it in ``SOLVERS`` here;
the contract tests then run over it. Heavy packages are imported when it solves.
"""

from msvm_select.solvers.base import Solver
from msvm_select.solvers.exact import Exact
from msvm_select.solvers.osqp import Osqp
from msvm_select.solvers.qp import Qp
from msvm_select.solvers.smo import Smo

SOLVERS: dict[str, type[Solver]] = {
    "exact": Exact,
    "smo": Smo,
    "osqp": Osqp,
    "qp": Qp,
}
