"""A training on hosts that does not begin: the first cause is what is said."""

import sys
from pathlib import Path

from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.messages.hosting import TrainThere
from gradstudio.protocol.torchrun.host_training import HostTrainings

GREETS_TOO_LATE = "cat > /dev/null; printf '\\037gradstudio engine\\036'"
NEEDED = ("torch", "numpy", "msgspec", "psutil", "safetensors")


def test_a_host_without_the_engine_is_the_reason_and_the_one_that_ends_with_it_is_silent(tmp_path: Path) -> None:
    for name in NEEDED:
        (tmp_path / f"{name}.py").touch()
    (tmp_path / "far.sh").write_text(GREETS_TOO_LATE)
    far = Host("far", command=f"sh {tmp_path / 'far.sh'}")
    bare = Host("bare", command="sh -c {engine}", python=f"PYTHONPATH={tmp_path} {sys.executable} -S")
    order = TrainThere(name="a", files={}, script="net.py", of_torchrun=(), of_script=(), lines="")
    trainings = HostTrainings({far: order, bare: order}, {})
    trainings.run(lambda _line: None, lambda _name, _data: None)
    assert trainings.failure == "This version's engine is not on “bare”. Send it: gradstudio hosts check bare --send"
