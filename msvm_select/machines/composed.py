"""One-versus-one and one-versus-all: machines of two-class parts, see ``parts``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from msvm_select.left_out import LeftOut, Tell, Watch, quiet, unwatched
from msvm_select.machines.base import Machine
from msvm_select.machines.losses import check_C
from msvm_select.parts import Composed, Pairs, Parts, Rests
from msvm_select.records import Floats, Gram, Ints, Mask, Work

if TYPE_CHECKING:
    from msvm_select.solvers.base import Solver


class Composing(Machine):
    """A machine of parts, trained and left out part by part."""

    kind: ClassVar[type[Parts]]

    def train(
        self,
        solver: Solver,
        gram: Gram,
        y: Ints,
        Q: int,
        C: float,
        last: Any = None,
        certain: bool = True,
        jobs: int = 1,
        weights: Floats | None = None,
    ) -> Composed:
        """All parts at C, begun at those of ``last``."""
        check_C(C)
        parts = self.kind(gram, y, Q, C, self.loss, certain, weights)
        if isinstance(last, Composed):
            same_loss = self.loss.name == "l1" and certain
            wider = bool((parts.box >= last.parts.box).all())
            if last.converged and last.hard_margin and same_loss and wider:
                return replace(last, parts=parts, work=Work())
        return self._trained(solver, parts, last, jobs)

    def _trained(
        self, solver: Solver, parts: Parts, last: Composed | None, jobs: int = 1
    ) -> Composed:
        found, seconds = solver.solve_parts(parts, last, jobs)
        work = Work(found.steps, found.newton, seconds)
        machine = Composed(parts, found, work)
        gap = machine.gap
        good = bool(np.isfinite(gap)) and gap <= solver.gap and not found.reason
        reason = (
            ""
            if good
            else found.reason
            or (f"stopped at a gap of {gap:.2g}, above {solver.gap:.2g}")
        )
        return replace(machine, converged=good, reason=reason)

    def on(self, gram: Gram, machine: Any) -> Composed:
        """The parts take their blocks from it."""
        moved: Composed = replace(machine, parts=replace(machine.parts, gram=gram))
        return moved

    def leave_out(
        self,
        solver: Solver,
        machine: Any,
        *,
        every_margin: bool = False,
        proven: bool = True,
        only: Mask | None = None,
        jobs: int = 1,
        tell: Tell = quiet,
        watch: Watch = unwatched,
    ) -> LeftOut:
        """Each sample left out of the parts that it is in, then the decision.

        That is known of all samples at the same time: there is nothing to watch.
        """
        found = solver.leave_parts_out(machine, only=only, jobs=jobs, tell=tell)
        judged: LeftOut = machine.parts.judged(found, machine, every_margin, only)
        return judged

    def without(
        self, solver: Solver, machine: Any, samples: Mask
    ) -> tuple[Composed, Ints]:
        """Every part less these samples; the tables keep their rows."""
        parts, begun = replace(machine.parts, gone=samples), machine.alpha.copy()
        begun[samples] = 0.0
        found = machine.found._replace(alpha=begun)
        last = replace(machine, parts=parts, found=found)
        return self._trained(solver, parts, last), np.arange(parts.m)


class OneVersusOne(Composing):
    """LIBSVM's: a machine for each pair of classes, and votes."""

    name = "ovo"
    kind = Pairs


class OneVersusAll(Composing):
    """scikit-learn's OneVsRestClassifier(SVC()): a machine for each class."""

    name = "ova"
    kind = Rests
