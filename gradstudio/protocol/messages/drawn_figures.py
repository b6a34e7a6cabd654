"""Figures that a program of a person's own has drawn, as pictures."""

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count


class FigurePicture(msgspec.Struct, frozen=True):
    """One figure as PNG files: as it was drawn, and with light lines on a dark ground; both of the same size."""

    width: Count
    height: Count
    light: bytes
    dark: bytes


class Figured(Message, frozen=True):
    """A figure is another one than it was told to be.

    Attributes:
        node: that drew or showed it last.
        figure: its number, of its own for each figure of a run; a later message takes the place of an earlier one.
        title: what it calls itself; "" when it does not.
    """

    node: ItemId
    line: Count
    figure: Count
    title: str
    picture: FigurePicture
