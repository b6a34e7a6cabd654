#!/usr/bin/env python3
"""Sets GradStudio up and starts it, its tests or its benchmarks; needs nothing but Python itself.

    python3 dev.py run [ARGUMENTS]            the window on an example; without a display the same work in words
    python3 dev.py test [PYTEST ARGUMENTS]    everything that CI runs; with arguments only pytest, with them
    python3 dev.py test --changed [BASE]      what a change can break: since a commit, else since origin/main was left
    python3 dev.py bench [PATTERN] [--json]   the figures in benchmarks/; --save FILE keeps them,
                                              --against FILE shows was, is, ratio, --page FILE... a table
    python3 dev.py conformance [OPTIONS]      every operator and module against PyTorch's own samples: --help
    python3 dev.py campaign [NAME] [OPTIONS]  hostile inputs, kills and long use, seeded: --help
    python3 dev.py setup                      only the set-up

The first start makes .venv and fills it; later ones find its stamp and spend no time on it. GRADSTUDIO_TORCH says
which torch: `cpu` (the default where no GPU is seen), `keep` (whatever is there), or what pip should be given, such
as `torch==2.13.0 --index-url https://download.pytorch.org/whl/cu130`. A GPU build that is there already is kept.
"""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "gradstudio-stamp"
OLDEST = (3, 11)
NO_DISPLAY = 3
"""Exit code for "no display, or a system library is missing", as in `gradstudio` itself."""

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
EXAMPLE = "two_paths"
QT_PACKAGES = (
    "libgl1 libegl1 libglib2.0-0 libfontconfig1 libfreetype6 libdbus-1-3 libxkbcommon0 libx11-6 fonts-dejavu-core "
    "libxkbcommon-x11-0 libx11-xcb1 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 "
    "libxcb-render-util0 libxcb-shape0 libxcb-sync1 libxcb-xfixes0 libxcb-xkb1 libwayland-cursor0 libwayland-egl1"
).split()
"""What Qt needs of Debian and Ubuntu: the first half even without a display, the rest for X and Wayland."""


class Stop(Exception):
    """The program ends here, with this sentence and this exit code."""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code


def main(arguments: list[str]) -> int:
    """Runs the verb that the command line names.

    Returns:
        The exit code.
    """
    verbs = {"run": run, "test": test, "bench": bench, "conformance": conformance, "campaign": campaign, "setup": setup}
    if not arguments or arguments[0] not in verbs:
        print(__doc__)
        return 0 if arguments[:1] in (["--help"], ["-h"], ["help"]) else 2
    if sys.version_info < OLDEST:
        return start_again_with_newer_python(arguments)
    try:
        set_up()
        return verbs[arguments[0]](arguments[1:])
    except Stop as stop:
        print("dev.py:", stop, file=sys.stderr)
        return stop.code
    except KeyboardInterrupt:
        return 130


# ------------------------------------------------------------------ the verbs


def run(arguments: list[str]) -> int:
    """Opens the window; where there is no display, says so and does the same work without one."""
    arguments = arguments or [str(example())]
    if has_display():
        code = start("-m", "gradstudio", *arguments)
        if code != NO_DISPLAY:
            return code
    print("No display here: the example is run and drawn without a window.", flush=True)
    return run_headless([argument for argument in arguments if not argument.startswith("-")])


def run_headless(files: list[str]) -> int:
    """Prints the values and gradients of each file and writes its picture to out/."""
    pictures = ROOT / "out"
    pictures.mkdir(exist_ok=True)
    codes = []
    for file in files or [str(example())]:
        picture = pictures / (Path(file).stem + ".png")
        codes.append(start("-m", "gradstudio", "run", "--backward", "--trace", file))
        codes.append(
            start("-m", "gradstudio", "render", file, "--run", "-o", str(picture), QT_QPA_PLATFORM="offscreen")
        )
        if picture.exists():
            print("Picture:", picture, flush=True)
    return max(codes)


def test(arguments: list[str]) -> int:
    """Runs every check, or those that a change can break, or pytest alone when it is given other arguments.

    Bytecode is kept whatever the environment says: the tests start some hundred Pythons, and each would compile the
    whole project.
    """
    module = "pytest" if arguments else "tools.check"
    if arguments[:1] == ["--changed"]:
        module, arguments = "tools.changed", arguments[1:]
    return start("-m", module, *arguments, PYTHONDONTWRITEBYTECODE="")


def bench(arguments: list[str]) -> int:
    """Runs the benchmarks and prints a row each."""
    return start("-m", "benchmarks", *arguments)


def conformance(arguments: list[str]) -> int:
    """Draws, runs and exports PyTorch's own samples and prints what agrees with torch bit for bit."""
    return start("-m", "tools.conformance", *arguments)


def campaign(arguments: list[str]) -> int:
    """Tries hostile inputs, kills and long use, and prints cases, failures and the slowest."""
    return start("-m", "tools.campaign", *arguments)


def setup(arguments: list[str]) -> int:
    """Does nothing more: the set-up has been done by now."""
    print(f"Set up in {VENV}.")
    return 0 if not arguments else 2


def start(*arguments: str, **environment: str) -> int:
    """Runs Python of the .venv on these arguments, in the project's folder.

    Returns:
        Its exit code; 128 and the signal's number, as a shell says it, when a signal ended it.
    """
    code = subprocess.call([str(PYTHON), *arguments], cwd=ROOT, env={**os.environ, **environment})
    return code if code >= 0 else 128 - code


def example() -> Path:
    """The example that a first start shows."""
    files = sorted((ROOT / "examples").glob("*.gsg"))
    if not files:
        raise Stop("there is no example in examples/")
    return next((file for file in files if EXAMPLE in file.stem), files[0])


def has_display() -> bool:
    """Whether a window can be expected to open where somebody sees it."""
    platform = os.environ.get("QT_QPA_PLATFORM", "")
    if platform:
        return platform.split(":")[0] not in ("offscreen", "minimal")
    names = ("DISPLAY", "WAYLAND_DISPLAY")
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in names)


# ------------------------------------------------------------------ the set-up


def set_up() -> None:
    """Makes .venv complete. The stamp is written last: what was interrupted is taken up again by the next start."""
    if STAMP.exists() and STAMP.read_text() == fingerprint():
        return
    make_environment()
    if os.environ.get("GRADSTUDIO_TORCH") != "keep" and not has_gpu_torch(PYTHON):
        say("installing torch: a download of some 200 MB, several GB where it is built for a GPU")
        pip("install", *torch_arguments())
    say("installing GradStudio and its tools")
    pip("install", "--editable", f"{ROOT}[test]")
    provide_qt_libraries()
    STAMP.write_text(fingerprint())
    say("ready")


def fingerprint() -> str:
    """Changes whenever the set-up would come out differently."""
    files = [ROOT / "pyproject.toml", *sorted((ROOT / "constraints").glob("*.txt")), VENV / "pyvenv.cfg"]
    parts = [str(ROOT), os.environ.get("GRADSTUDIO_TORCH", ""), *(file.read_text() for file in files if file.exists())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def make_environment() -> None:
    """Makes .venv unless a working one is there. A GPU build of torch in this Python is shared with it."""
    if is_sound():
        return
    if importlib.util.find_spec("ensurepip") is None:
        install_system_packages(["python3-venv"], "Python's venv module is not complete")
    say(f"making {VENV}")
    shared = ["--system-site-packages"] if has_gpu_torch(Path(sys.executable)) else []
    if subprocess.call([sys.executable, "-m", "venv", "--clear", *shared, str(VENV)]):
        raise Stop("the virtual environment could not be made; the reason stands above")


def is_sound() -> bool:
    """Whether .venv holds a Python that is new enough, and pip."""
    question = f"import sys, pip; sys.exit(sys.version_info < {OLDEST})"
    return PYTHON.exists() and subprocess.call([str(PYTHON), "-c", question], stderr=subprocess.DEVNULL) == 0


def has_gpu_torch(python: Path) -> bool:
    """Whether this Python has a torch that was built for a GPU, asked without the seconds that importing it takes."""
    question = "import importlib.util as u; s = u.find_spec('torch'); print(s.origin if s else '')"
    answer = subprocess.run([str(python), "-c", question], capture_output=True, text=True, check=False).stdout.strip()
    version = Path(answer).parent / "version.py"
    if not answer or not version.exists():
        return False
    return re.search(r"^(cuda|hip|xpu)\b[^=\n]*= *'", version.read_text(), re.MULTILINE) is not None


def torch_arguments() -> list[str]:
    """What pip is told about torch: the pinned one, from the CPU index where the usual one would bring a GPU build."""
    choice = os.environ.get("GRADSTUDIO_TORCH", "")
    if choice not in ("", "cpu"):
        return choice.split()
    pinned = ["torch", "--constraint", str(ROOT / "constraints" / "cpu.txt")]
    if not sys.platform.startswith("linux") or (not choice and sees_gpu()) or not answers(f"{CPU_INDEX}/torch/"):
        return pinned
    return [*pinned, "--extra-index-url", CPU_INDEX, "--retries", "0"]


def sees_gpu() -> bool:
    """Whether the system shows a GPU that torch has a build for."""
    return bool(glob.glob("/dev/nvidia[0-9]*") or glob.glob("/dev/kfd"))


def answers(address: str) -> bool:
    """Whether a server answers within a few seconds, so that a dead one costs no more than these."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def pip(*arguments: str) -> None:
    """Runs pip in .venv.

    Raises:
        Stop: pip did not succeed.
    """
    silence = [] if sys.stdout.isatty() else ["--quiet", "--quiet"]  # only errors, where nobody watches the bars
    command = [str(PYTHON), "-m", "pip", *arguments, "--disable-pip-version-check", "--no-input", *silence]
    if subprocess.call(command, cwd=ROOT):
        raise Stop("pip did not succeed; its reason stands above. The next start goes on from here.")


# ------------------------------------------------------------------ the system's libraries


def provide_qt_libraries() -> None:
    """Sees to it that Qt finds its system libraries, on a virtual display and on a real one.

    Raises:
        Stop: some are missing, and only the user can install them.
    """
    if not sys.platform.startswith("linux"):
        return
    reason = qt_complaint() or x_complaint() or font_complaint()
    if not reason:
        return
    try:
        install_system_packages(QT_PACKAGES, reason)
    except Stop as stop:
        if qt_complaint() or os.environ.get("DISPLAY"):
            raise
        print("dev.py: for a window on a display,", stop, flush=True)
        return
    if qt_complaint():
        raise Stop(f"Qt still does not start: {qt_complaint()}", NO_DISPLAY)


def qt_complaint() -> str:
    """Why Qt cannot be imported, in the linker's words; empty when it can."""
    question = "import PySide6.QtWidgets, PySide6.QtSvg, PySide6.QtNetwork"
    child = subprocess.run([str(PYTHON), "-c", question], capture_output=True, text=True, check=False)
    return (child.stderr.strip().splitlines() or ["Qt cannot be imported"])[-1] if child.returncode else ""


def x_complaint() -> str:
    """Which libraries Qt's plugin for X displays lacks; empty when none."""
    plugins = list(VENV.glob("lib*/python*/site-packages/PySide6/Qt/plugins/platforms/libqxcb.so"))
    if not plugins or not shutil.which("ldd"):
        return ""
    listing = subprocess.run(["ldd", str(plugins[0])], capture_output=True, text=True, check=False).stdout
    missing = sorted({line.split()[0] for line in listing.splitlines() if "not found" in line})
    return f"Qt's plugin for X displays lacks {', '.join(missing)}" if missing else ""


def font_complaint() -> str:
    """Says so when the system has no font at all: every text would be drawn empty."""
    folders = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
    files = (file for folder in folders for file in Path(folder).expanduser().glob("**/*.[to]t[fc]"))
    return "" if next(files, None) else "no fonts are installed"


def install_system_packages(packages: list[str], reason: str) -> None:
    """Installs packages of Debian or Ubuntu when allowed to.

    Raises:
        Stop: not root, no apt-get, or it did not succeed; the sentence says what to type.
    """
    if not shutil.which("apt-get"):
        raise Stop(f"{reason}. Install what Debian calls: {' '.join(packages)}", NO_DISPLAY)
    if os.geteuid() != 0:
        raise Stop(f"{reason}. Type: sudo apt-get install -y {' '.join(packages)}", NO_DISPLAY)
    say(f"{reason}: installing {' '.join(packages)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.call(["apt-get", "-qq", "update"], env=environment)
    command = ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *packages]
    if subprocess.call(command, env=environment, stdout=subprocess.DEVNULL):
        raise Stop(f"apt-get did not succeed. Type: apt-get install -y {' '.join(packages)}", NO_DISPLAY)


def start_again_with_newer_python(arguments: list[str]) -> int:
    """Hands over to a newer Python when the system has one beside this."""
    for minor in range(19, OLDEST[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer:
            return subprocess.call([newer, str(Path(__file__).resolve()), *arguments])
    print("dev.py: GradStudio needs Python {}.{} or newer; this is {}.{}.".format(*OLDEST, *sys.version_info[:2]))
    return 1


def say(sentence: str) -> None:
    """Tells what the set-up is doing."""
    print(f"[set-up] {sentence}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
