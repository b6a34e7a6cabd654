"""What holds for every test: nothing of the user's is touched, nothing is left behind, nothing is logged in passing."""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator

import pytest

from tests.helpers import crashes, engine_forks, garbage, leaks, seeds
from tests.helpers.log_watch import LogWatch

HOME = tempfile.mkdtemp(prefix="gradstudio-tests-")
"""Settings, recovery files and caches of the tests, instead of the user's own."""

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
    os.environ[variable] = os.path.join(HOME, variable.lower())
os.environ.pop("WAYLAND_DISPLAY", None)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the same sums on every machine, and none that spins beside another's
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as an engine says, where a test asks for more threads
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job, of which all that it starts learns it
    signal.signal(signal.SIGINT, signal.default_int_handler)
gc.disable()  # it is collected between tests, and while they wait: `tests.helpers.garbage`
if engine_forks.is_possible():  # before anybody takes the command that starts an engine
    engine_forks.use(HOME)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Knows pytest-qt's settings also where it is not loaded: most rooms are tested without Qt."""
    if not pluginmanager.hasplugin("pytest-qt"):
        for name in ("qt_api", "qt_log_level_fail", "qt_log_ignore"):
            parser.addini(name, "of pytest-qt, which is not loaded", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Makes hypothesis the same in every run; two busy cores are no reason to fail."""
    from hypothesis import settings

    crashes.watch(config)
    settings.register_profile("repeatable", deadline=None, derandomize=True, print_blob=True)
    settings.register_profile("searching", deadline=None, max_examples=1000, print_blob=True)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with what may take so long that it says so: at the end, the other processes would wait for it."""
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Takes what is imported by now out of the garbage collector's sight."""
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes the tests' own settings folder."""
    shutil.rmtree(HOME, ignore_errors=True)


@pytest.fixture(autouse=True)
def _garbage_goes() -> Iterator[None]:
    """Looks for garbage where Python's own collector would have."""
    garbage.collect_when_due()
    yield
    garbage.collect_when_due()


@pytest.fixture(autouse=True)
def _same_random_numbers() -> None:
    """Seeds every generator that is loaded."""
    seeds.seed_all()


@pytest.fixture(autouse=True)
def _nothing_logged(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that logs at WARNING or above, unless it is marked `logs("reason")`."""
    with LogWatch() as watch:
        yield
    if watch.lines and not request.node.get_closest_marker("logs"):
        pytest.fail("logged at WARNING or above:\n" + "\n".join(watch.lines), pytrace=False)


@pytest.fixture(scope="module")
def engines_are_forks() -> Iterator[None]:
    """Within a module those that hosts, commands and leaders of ranks start, too; each is a process of its own."""
    with engine_forks.everywhere():
        yield


@pytest.fixture
def ranks_are_forks() -> Iterator[None]:
    """Within a test what torchrun starts; torchrun itself is started in earnest."""
    with engine_forks.ranks():
        yield


@pytest.fixture(autouse=True, scope="module")
def _nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a module that leaves widgets, threads or processes, unless it is marked `leaves_behind("reason")`."""
    before = leaks.standing()
    yield
    left = leaks.left_since(before)
    if left and not request.node.get_closest_marker("leaves_behind"):
        pytest.fail("left behind:\n" + "\n".join(left), pytrace=False)
