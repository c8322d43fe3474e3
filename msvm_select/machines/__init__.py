"""Machines: labels + Gram + C -> the dual problem to be solved."""

from msvm_select.machines.base import Machine
from msvm_select.machines.weston_watkins import WestonWatkins

MACHINES: dict[str, type[Machine]] = {"weston-watkins": WestonWatkins}
