"""Checkpoints in memory: what every object of a run was at the end of a turn, so that the run can be put back there."""
