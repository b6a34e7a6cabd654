"""Copied parts of a program as text, complete with their stored tensors; any other text is refused."""

from gradstudio.document.build import build
from gradstudio.document.errors import NotAFragment, UnreadableFile
from gradstudio.document.file import stored_tensors
from gradstudio.document.format import FRAGMENT_FORMAT, FragmentText
from gradstudio.document.read import read
from gradstudio.document.write import write
from gradstudio.graph.model import Graph


def to_text(fragment: Graph) -> str:
    """The text of a fragment, to put on the clipboard."""
    return write(fragment, FRAGMENT_FORMAT, with_data=True)


def from_text(text: str) -> Graph:
    """The fragment that a text from the clipboard holds.

    Raises:
        NotAFragment: it holds something else; the message says what.
    """

    def make(content: FragmentText) -> Graph:
        graph = build(content)
        graph.tensors = stored_tensors(content, None)
        return graph

    try:
        return read(text, FragmentText, FRAGMENT_FORMAT, make)
    except UnreadableFile as error:
        raise NotAFragment(f"The clipboard holds no part of a program ({error}).") from error
