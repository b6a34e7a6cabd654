"""What looks like a slip in code before a yes: a name that is nowhere, and none that is a function of the program."""

from gradstudio.advice.text_causes import describe_slips
from gradstudio.graph.text.code_records import code_of
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


def test_what_python_and_torch_take_is_no_slip() -> None:
    text = (
        "import torch\nfrom torch import nn\nx = torch.ones(2, 3)\nloss = nn.MSELoss(size_average=False)\n"
        'print("{0.shape}".format(x))\nfor k in range(2):\n    pass\nelse:\n    k = 5\nsizes = {s for s in x.shape}\n'
    )
    graph = read_script(text, keeps_code=True).graph
    assert any(code_of(node) for node in graph.nodes.values()) and describe_slips(graph, None) == ""
    misspelt = read_script(text + "y = torch.sotfmax(x, 1)\n", keeps_code=True).graph
    assert "'torch.sotfmax'" in describe_slips(misspelt, None)
