"""A program larger than the memory, in words."""

import msgspec
import pytest

from gradstudio.advice.diagnosis.memory_shortage import in_words, size_explanation, size_title
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.inference import Need

NEED = Need(device="cuda:0", bytes=41 << 30, free_bytes=19 << 30, node=ItemId("n3"))


def test_the_title_says_what_is_needed_and_what_there_is() -> None:
    assert size_title(NEED) == "This needs about 41 GiB on cuda:0; 19 GiB are free."
    assert "cuda:0" in size_explanation(NEED)
    assert size_title(msgspec.structs.replace(NEED, device="cpu")).count("cpu") == 1


@pytest.mark.parametrize(("count", "words"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2**70, "1024 EiB")])
def test_bytes_in_words(count: int, words: str) -> None:
    assert in_words(count) == words
