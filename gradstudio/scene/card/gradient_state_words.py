"""The seven states of a gradient in words (semantics §7). No Qt."""

from gradstudio.protocol.gradient_sentences import EMPTIED
from gradstudio.protocol.messages.records import GradState

STATE_WORDS: dict[GradState, str] = {
    "not_run": "not yet",
    "cut": "cut here",
    "not_required": "not required",
    "accumulated": "accumulated",
    "value": "",
    "not_retained": "not kept",
    "not_reached": "not reached",
}
SHORT_STATE_WORDS: dict[GradState, str] = {
    "cut": "cut",
    "not_required": "no grad",
    "not_retained": "not kept",
    "not_reached": "none",
}
"""Where the words above have no room; the sign before them tells the states apart."""
STATE_SENTENCES: dict[GradState, str] = {
    "not_run": "No backward has run since this value was made.",
    "cut": "The gradient is cut here: the result does not require grad although an input does.",
    "not_required": "Neither this value nor its inputs require grad.",
    "accumulated": "A sum: .grad held something from an earlier backward.",
    "value": "The gradient that arrived here.",
    "not_retained": "A gradient passed here and nobody kept it.",
    "not_reached": "A backward ran, and none reached this value.",
}


def state_words(state: GradState, reason: str) -> str:
    """The word of a state on a card; "not yet" would not be true of a leaf whose `.grad` a statement has emptied."""
    return "set to None" if state == "not_run" and reason == EMPTIED else STATE_WORDS[state]
