"""What a yes is asked for is said: files and processes where nothing else can happen, else that it may be anything."""

from functools import partial

import pytest

from gradstudio.program.compile import compile_graph
from gradstudio.program.file_lines import numbers_in_file
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import NOT_TRUSTED, deeds_of, need_words, untrusted_code

SAVES = "import torch\nx = torch.ones(2)\ntorch.save(x, 'w.pt')\ny = torch.load('w.pt')\n"


def codes(text: str) -> list[str]:
    return [one.text for one in compile_graph(read_script(text, keeps_code=True).graph).codes]


def test_files_are_named_that_a_drawn_program_writes_and_reads() -> None:
    assert need_words(codes(SAVES)) == (
        "This program does more than compute: it writes “w.pt” and reads “w.pt”. For that it runs without walls."
    )
    program = compile_graph(read_script(SAVES, keeps_code=True).graph)
    numbers = partial(numbers_in_file, {})
    assert untrusted_code(program, numbers)[1].startswith("This program does more than compute: it writes “w.pt”")


def test_processes_of_a_loader_are_said() -> None:
    text = (
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
        "data = TensorDataset(torch.ones(4, 2))\nloader = DataLoader(data, num_workers=2)\n"
    )
    assert deeds_of(codes(text)) == ("starts processes that fetch data",)


@pytest.mark.parametrize(
    "code",
    [
        "import os",
        "torch.save(x, 'w.pt'); os.remove('w.pt')",
        "torch.save(x, open('w.pt', 'wb'))",
        "torch.save(evil(), 'w.pt')",
        "evil.torch.save(x, 'w.pt')",
        "y = torch.load('w.pt').run()",
        "y = torch.load('w.pt', weights_only=False)",
        "y = torch.load('w.pt', pickle_module=os)",
        "y = torch.load('w.pt', **more)",
        "for torch.save(x, 'w') in y: pass",
        "torch.save(",
        "",
    ],
)
def test_what_may_do_more_is_not_played_down(code: str) -> None:
    assert deeds_of(["torch.save(x, 'w.pt')", code]) == ()
    assert need_words([code]) == NOT_TRUSTED
