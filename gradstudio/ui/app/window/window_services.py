"""What the window gives to each of its documents: all that they share."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gradstudio.ui.actions.learning_commands import LearningCommands
    from gradstudio.ui.actions.tab_commands import TabCommands
    from gradstudio.ui.actions.window_commands import WindowCommands
    from gradstudio.ui.app.files.documents import Documents
    from gradstudio.ui.app.window.window_frame import Frame
    from gradstudio.ui.state.document.overlays import Overlays
    from gradstudio.ui.state.library.connection_statistics import ConnectionStatistics
    from gradstudio.ui.state.library.favourites import Favourites
    from gradstudio.ui.state.settings import Settings
    from gradstudio.ui.state.trust.trusted_code import TrustedCode


class WindowServices(NamedTuple):
    """Made once, when the window is built.

    Attributes:
        trusted: the code that this person said yes to.
        looked_up: the operator that a person looks at, anywhere in the window; "" for none.
        toggle_favourite: makes that one a favourite, or no longer.
        find_operator: puts the cursor into the Library's search.
    """

    frame: "Frame"
    settings: "Settings"
    documents: "Documents"
    overlays: "Overlays"
    shelf: "Favourites"
    habits: "ConnectionStatistics"
    tabs: "TabCommands"
    shell: "WindowCommands"
    learning: "LearningCommands"
    trusted: "TrustedCode"
    looked_up: Callable[[], str]
    toggle_favourite: Callable[[], None]
    find_operator: Callable[[], None]
