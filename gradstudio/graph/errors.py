"""Why a change of the graph is refused.

GradStudioError
└── GraphError
    ├── EditError      an edit does not fit the graph: our own bug, never a person's
    └── Refused        a person asked for something that cannot be; says why and what to do
        └── WireRefused
"""

from gradstudio.errors import GradStudioError


class GraphError(GradStudioError):
    """Base of the room's errors."""


class EditError(GraphError):
    """An edit does not fit the graph it is applied to."""


class Refused(GraphError):
    """What a person asked for cannot be; the message says why and what to do instead."""


class WireRefused(Refused):
    """A wire that may not be drawn; the message is the reason shown beside the pointer."""
