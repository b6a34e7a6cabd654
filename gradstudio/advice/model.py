"""What an explanation is."""

import re

import msgspec


class Advice(msgspec.Struct, frozen=True):
    """What we say above torch's words.

    Attributes:
        explanation: plain words; "" when we know no more than torch.
        fixes: what may be done, each one imperative sentence.
    """

    explanation: str = ""
    fixes: tuple[str, ...] = ()


class Rule(msgspec.Struct, frozen=True):
    """A known error of torch.

    Attributes:
        type_name: the exception's class, or "" for any.
        pattern: a regular expression searched in torch's message; its named groups may be used
            in `explanation` as ``{name}``.
        example: Python statements that provoke it; a test runs them and looks for the pattern.
    """

    name: str
    type_name: str
    pattern: str
    explanation: str
    fixes: tuple[str, ...]
    example: str

    def match(self, type_name: str, message: str) -> Advice | None:
        """Advice for the error, when it is this one."""
        if self.type_name and self.type_name != type_name:
            return None
        found = re.search(self.pattern, message, re.DOTALL)
        if found is None:
            return None
        groups = {key: value or "" for key, value in found.groupdict().items()}
        return Advice(self.explanation.format(**groups), self.fixes)
