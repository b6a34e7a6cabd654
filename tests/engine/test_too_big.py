"""What Python could not make in a lifetime is not begun: neither in a plain run, nor in a traced one."""

import pytest

from gradstudio.cli import main
from gradstudio.engine.bring.bring_module import bring
from gradstudio.protocol.messages.module_import import BringModule, NotBrought


@pytest.mark.parametrize("options", [(), ("--trace",)])
def test_a_run_ends_at_once_with_the_reason(tmp_path, capsys, options: tuple[str, ...]) -> None:
    path = tmp_path / "pow.py"
    path.write_text("a = 3\nx = 9**9**9\n")
    assert main(["run", str(path), *options]) == 1
    told = capsys.readouterr().out
    assert "TooLarge: A whole number of about 369,693,100 digits" in told.partition("FAILED at x (line 2): ")[2]
    assert "It was not run." in told
    assert "as many digits as it needs" in told


def test_what_shows_only_in_a_loop_is_refused_by_a_traced_run(tmp_path, capsys) -> None:
    path = tmp_path / "loop.py"
    path.write_text("x = 2\nfor i in range(100):\n    x = x * x\n")
    assert main(["run", str(path), "--trace"]) == 1
    assert "TooLarge: A whole number" in capsys.readouterr().out


def test_a_check_tells_it_too(tmp_path, capsys) -> None:
    path = tmp_path / "list.py"
    path.write_text("import torch\nx = torch.tensor([0.0] * 10**11)\ny = torch.ones(10**30)\n")
    assert main(["check", str(path)]) == 1
    told = capsys.readouterr().out
    assert "A list of 100,000,000,000 elements" in told
    assert "PROBLEM at y (line 3): A size has at most 63 bits" in told


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.tensor(10) ** 10 ** 10 ** 10",
        "x = torch.tensor(10) + (1 << 10**12)",
        "x = torch.ones(2) * len('a' * 10**12)",
        "x = torch.ones(2) * len([0] * 10**12)",
        "n = 10**10\nx = torch.ones(2) ** (10**n)",
    ],
)
@pytest.mark.parametrize("verb", ["check", "run"])
def test_constants_beside_a_tensor_are_not_computed_for_ever(tmp_path, capsys, verb: str, text: str) -> None:
    path = tmp_path / "constants.py"
    path.write_text(f"import torch\n\n{text}\n")
    assert main([verb, str(path)]) == 1
    assert "at most 100,0" in capsys.readouterr().out


def test_an_input_is_not_computed_for_ever(tmp_path) -> None:
    path = tmp_path / "net.py"
    path.write_text("from torch import nn\nnet = nn.Identity()\n")
    answer = bring(BringModule(path=str(path), name="net", inputs=("9**9**9",)))
    assert isinstance(answer, NotBrought)
    assert answer.fault == "usage"
    assert "The inputs cannot be made: A whole number of about 369,693,100 digits" in answer.message


def test_the_words_of_torch_come_without_its_stack(tmp_path, capsys) -> None:
    path = tmp_path / "ones.py"
    path.write_text("import torch\nn = 10**30\nx = torch.arange(n)\n")
    main(["run", str(path)])
    told = capsys.readouterr().out
    assert "FAILED at x" in told
    assert "frame #" not in told


def test_a_number_that_python_does_not_print_is_shown_by_its_size(tmp_path, capsys) -> None:
    path = tmp_path / "long.py"
    path.write_text("x = -(3**20000)\n")
    assert main(["run", str(path), "--trace"]) == 0
    assert "about -2.6613e+9542" in capsys.readouterr().out
