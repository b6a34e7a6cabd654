"""The timeline: what a run did, forward and backward on one axis, and the moment that is looked at."""

from gradstudio.ui.timeline.panel import TimelinePanel
from gradstudio.ui.timeline.workspace import Workspace

__all__ = ["TimelinePanel", "Workspace"]
