"""What looks like a slip in code before a yes: a name that is nowhere, and none that is a function of the program."""

from gradstudio.advice.text_causes import describe_slips
from gradstudio.program.reading.reader import read_script


def test_a_function_that_is_handed_on_by_its_name_is_no_slip() -> None:
    text = (
        "import torch.nn as nn\n\ndef zeros(m):\n    if isinstance(m, nn.Linear):\n        nn.init.zeros_(m.weight)\n\n"
        "net = nn.Linear(2, 1)\nnet.apply(zeros)\n"
    )
    graph = read_script(text, keeps_code=True).graph
    assert describe_slips(graph, None) == ""
    missing = read_script(text.replace("net.apply(zeros)", "net.apply(zeroes)"), keeps_code=True).graph
    assert "'zeroes' is not bound" in describe_slips(missing, None)
