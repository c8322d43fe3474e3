"""Machines: labels + Gram + C -> the dual problem to be solved; named by their loss."""

from msvm_select.machines.base import Machine
from msvm_select.machines.quadratic import Quadratic
from msvm_select.machines.weston_watkins import WestonWatkins

MACHINES: dict[str, type[Machine]] = {"l1": WestonWatkins, "l2": Quadratic}
