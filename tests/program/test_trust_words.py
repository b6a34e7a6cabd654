"""What a yes is asked for is said: files and processes where nothing else can happen, else that it may be anything."""

import re

import pytest

from gradstudio.program.compile import compile_graph
from gradstudio.program.file_lines import FileText, shown_in_script
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import NOT_TRUSTED, code_digest, deeds_of, need_words, untrusted_code

SAVES = "import torch\nx = torch.ones(2)\ntorch.save(x, 'w.pt')\ny = torch.load('w.pt')\n"


def codes(text: str) -> list[str]:
    return [one.text for one in compile_graph(read_script(text, keeps_code=True).graph).codes]


def test_files_are_named_that_a_drawn_program_writes_and_reads() -> None:
    assert need_words(codes(SAVES)) == (
        "This program does more than compute: it writes “w.pt” and reads “w.pt”. For that it runs without walls."
    )
    program = compile_graph(read_script(SAVES, keeps_code=True).graph)
    assert untrusted_code(program, FileText().shown)[1].startswith(
        "This program does more than compute: it writes “w.pt”"
    )


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


TYPED = """\
import threading
import torch


def halved( x, model ):
    while x.sum() > 1:   # as long as
        x = x/2

    return model + x


model = torch.ones(2)
y = halved( model, x )
with open("a") as f: print( f )
"""


def test_lines_are_shown_as_the_file_has_them() -> None:
    text = TYPED.replace("y = halved( model, x )", "y = halved( model, model )")
    read = read_script(text, keeps_code=True)
    program = compile_graph(read.graph)
    data, _, shown = untrusted_code(program, FileText(text, read.lines).shown)
    lines = text.split("\n")
    rows = [row for row in shown.split("\n")[2:] if row]
    assert [int(row[:5]) for row in rows] == [1, 6, 14]
    assert [row[7:] for row in rows] == [lines[number - 1] for number in (1, 6, 14)]
    assert [row["line"] for row in data] == [1, 6, 14]


def test_lines_of_another_text_are_not_shown() -> None:
    read = read_script(TYPED.replace("x )", "model )"), keeps_code=True)
    program = compile_graph(read.graph)
    other = FileText(TYPED.replace("import threading", "import_no = 1"), read.lines)
    assert "import threading" in untrusted_code(program, other.shown)[2]


def test_a_line_that_is_drawn_in_parts_is_shown_as_the_file_has_it() -> None:
    text = (
        "import torch\nfrom torch import nn\nnet = nn.Linear(2, 2)\n"
        "torch.save( net.state_dict(), '%s.pt' % 'a' )\nnet.load_state_dict( torch.load('a.pt') )\n"
        "x = torch.load('a.pt', map_location=torch.load('b.pt'))\n"
    )
    read = read_script(text, keeps_code=True)
    _, _, shown = untrusted_code(compile_graph(read.graph), FileText(text, read.lines).shown)
    rows = [row for row in shown.split("\n")[2:] if row]
    assert [(int(row[:5]), row[7:]) for row in rows] == [*enumerate(text.split("\n"), 1)][3:6]


INLINE = """import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.ones(3)
if dist.get_rank() == 0:
    dist.barrier()
share = max(1, 8 // dist.get_world_size())
"""


def test_a_call_within_a_statement_is_shown_with_its_line_and_no_name_that_no_text_has() -> None:
    read = read_script(INLINE, keeps_code=True)
    program = compile_graph(read.graph)
    of_file = [FileText(INLINE, read.lines).shown(code) for code in program.codes]
    lines = INLINE.split("\n")
    assert [(shown.numbers, shown.text) for shown in of_file] == [((k,), lines[k - 1]) for k in (4, 6, 7, 8)]
    of_script = [shown_in_script(program, code) for code in program.codes]
    assert [shown.text.strip() for shown in of_script] == [
        line.strip().replace("dist.", "torch.distributed.") for line in (lines[3], *lines[5:8])
    ]
    code = program.code.split("\n")
    assert all(code[shown.numbers[0] - 1].strip() == shown.text.strip() for shown in of_script)


PARTS = """import torch
import os
import json

cfg = json.loads('{"lr": [0.1, 0.2], "name": "a"}')
home = os.environ[ "HOME" ]
lr = cfg["lr"][0] * 2 + cfg["lr"][1]
for k in cfg["lr"]:
    print(k, cfg["name"][0])
x = torch.tensor(cfg["lr"][::-1])
z = (cfg
     ["lr"]
     [1])
"""


def test_parts_of_a_statement_that_are_no_calls_are_shown_with_its_lines_whole() -> None:
    read = read_script(PARTS, keeps_code=True)
    program = compile_graph(read.graph)
    _, _, shown = untrusted_code(program, FileText(PARTS, read.lines).shown)
    rows = [(int(row[:5]), row[7:]) for row in shown.split("\n")[2:] if row]
    lines = PARTS.split("\n")
    assert rows == [(number, lines[number - 1]) for number in (2, 3, *range(5, 14))]


def test_a_part_is_not_taken_for_another_one_of_its_form() -> None:
    text = "import os\nimport torch\nx = torch.ones(2)\nz = os.environ['A']\n"
    read = read_script(text, keeps_code=True)
    other = FileText(text.replace("['A']", "['B']"), read.lines)
    asked = untrusted_code(compile_graph(read.graph), other.shown)[2].replace('"', "'")
    assert "z = attribute_1['A']" in asked


HEAD = "import os\nimport torch\nfrom os import system\nx = torch.ones(2, 2)\nbox = [system, print]\ns = 'ls'\n"


def of(text: str) -> tuple[str, str]:
    """What is asked for, in one line with double quotes, and the digest of a yes."""
    program = compile_graph(read_script(text, keeps_code=True).graph)
    asked = untrusted_code(program, FileText(text).shown)[2].replace("'", '"')
    return re.sub(r"\n+ +\d+ +", "; ", asked), code_digest(program)


@pytest.mark.parametrize(
    ("deed", "seen"),
    [
        ("system(s)", "system(s)"),
        ("run = os.system\nrun('id')", 'run = os.system; free_call_1 = run("id")'),
        ("os.system(s)", "os.system(s)"),
        ("run = {'k': system}\nrun['k']('id')", 'call_1 = getitem_1("id")'),
        ("run = box[0]\nrun('id')", 'run = box[0]; call_1 = run("id")'),
        ("box[0]('id')", 'getitem_1 = box[0]; call_1 = getitem_1("id")'),
        ("for run in box:\n    run('id')", 'run("id")'),
        ("def apply(run, a):\n    return run(a)\ny = apply(system, 'id')", 'y = apply(system, "id")'),
        ("def chosen():\n    return os.system\nrun = chosen()\nrun('id')", 'run("id")'),
        ("what = f'id {s}'", "what = f"),
        ("many = ['rm', s]", 'many = ["rm", s]'),
        ("torch.save(x, s)", "torch.save(x, s)"),
    ],
)
def test_a_yes_is_to_what_is_drawn_too_where_it_may_do_what_code_does(deed: str, seen: str) -> None:
    """It is shown, and a program that says something else there is another one."""
    text = HEAD + deed + "\n"
    asked, digest = of(text)
    assert 's = "ls"' in asked and seen in asked
    others = {text.replace("'ls'", "'rm'"), text.replace("'id'", "'rm'"), text.replace("box[0]", "box[1]"), HEAD} - {
        text
    }
    assert digest not in {of(other)[1] for other in others}


def test_numbers_and_what_torch_computes_may_change_without_another_yes() -> None:
    text = (
        f"{HEAD}net = torch.nn.Linear(2, 3)\ny = net(x)\nloss = torch.nn.functional.huber_loss(y, y, reduction='sum')\n"
    )
    asked, digest = of(text)
    assert "net" not in asked and "loss" not in asked
    assert digest == of(text.replace("Linear(2, 3)", "Linear(2, 5)").replace("'sum'", "'mean'"))[1]
