"""One-versus-one and one-versus-all: machines of two-class parts, see ``parts``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from msvm_select.left_out import Asked, LeftOut, quiet
from msvm_select.machines.base import Machine, Task
from msvm_select.machines.losses import check_C
from msvm_select.parts import Composed, Pairs, Parts, Rests
from msvm_select.records import Floats, Gram, Ints, Mask, Work

if TYPE_CHECKING:
    from msvm_select.solvers.base import Solver


class Composing(Machine):
    """A machine of parts, trained and left out part by part."""

    kind: ClassVar[type[Parts]]

    def _trained(self, task: Task, last: Any) -> Composed:
        """All parts at C, begun at those of ``last``."""
        solver, gram, y, Q, C, certain, jobs, weights = task
        check_C(C)
        parts = self.kind(gram, y, Q, C, self.loss, certain, weights)
        if isinstance(last, Composed):
            same_loss = self.loss.name == "l1" and certain
            wider = bool((parts.box >= last.parts.box).all())
            if last.converged and last.hard_margin and same_loss and wider:
                return replace(last, parts=parts, work=Work())
        return self._solved(solver, parts, last, jobs)

    def _solved(
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
        self, solver: Solver, machine: Any, **asked: Unpack[Asked]
    ) -> LeftOut:
        """Each sample left out of the parts that it is in, then the decision.

        That is known of all samples at the same time: there is nothing to watch.
        """
        found = solver.leave_parts_out(
            machine,
            only=asked.get("only"),
            jobs=asked.get("jobs", 1),
            tell=asked.get("tell", quiet),
        )
        judged: LeftOut = machine.parts.judged(found, machine, asked)
        return judged

    def without(
        self, solver: Solver, machine: Any, samples: Mask, moved: Floats | None = None
    ) -> tuple[Composed, Ints]:
        """Every part less these samples; the tables keep their rows.

        What their leaving moved at another C it moves here, too, by about as much.
        """
        parts, begun = replace(machine.parts, gone=samples), machine.alpha.copy()
        if moved is not None:
            begun = np.clip(begun + moved, 0.0, parts.box[:, None])
        begun[samples] = 0.0
        found = machine.found._replace(alpha=begun)
        last = replace(machine, parts=parts, found=found)
        return self._solved(solver, parts, last), np.arange(parts.m)

    def moved(self, machine: Composed, without: Composed) -> Floats:
        """The difference of their tables."""
        return without.alpha - machine.alpha


class OneVersusOne(Composing):
    """LIBSVM's: a machine for each pair of classes, and votes."""

    name = "ovo"
    kind = Pairs


class OneVersusAll(Composing):
    """scikit-learn's OneVsRestClassifier(SVC()): a machine for each class."""

    name = "ova"
    kind = Rests
