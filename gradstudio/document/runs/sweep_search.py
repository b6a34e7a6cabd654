"""What a sweep trains with next: every combination in turn, or what optuna proposes. No Qt, no torch here."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from typing import Any, Final, Protocol

from gradstudio.document.errors import BadSweep
from gradstudio.document.runs.sweep_grid import MOST_TRIALS, Space, Span, all_of, combinations, size_of

GRID, OPTUNA = "grid", "optuna"
USUAL_TRIALS: Final = 20
INSTALL: Final = 'pip install "gradstudio[sweep]"'
NOT_INSTALLED: Final = f"optuna is not installed: {INSTALL}"
TRIES: Final = 30
"""So often optuna is asked for a combination that was not trained yet; then the first of those is taken."""


class Search(Protocol):
    """Who says what is trained with next.

    Attributes:
        count: so many trainings it will be.
    """

    count: int

    def propose(self) -> dict[str, str] | None:
        """The literals of the next training; None: it was the last."""

    def end(self, chosen: dict[str, str], loss: float | None, *, stopped_at: int | None = None) -> None:
        """A training has ended: with this loss, None where it has none; `stopped_at`: hopeless at this turn."""


def begin_search(kind: str, space: Space, trials: int | None, seed: int) -> Search:
    """A search of this kind; `trials`: so many trainings, where the kind does not say it.

    Raises:
        BadSweep: optuna is not installed, or the kind cannot search such a space, or not so often.
    """
    if kind == GRID:
        if trials is not None:
            raise BadSweep("A grid trains once for each combination; how many are tried is said to optuna only.")
        return GridSearch(space)
    return OptunaSearch(space, USUAL_TRIALS if trials is None else trials, seed)


def has_optuna() -> bool:
    """Whether optuna is installed; it is not loaded for that."""
    return importlib.util.find_spec(OPTUNA) is not None


def count_of(space: Space, trials: int) -> int:
    """How many trainings optuna is asked for: not more than there are combinations.

    Raises:
        BadSweep: it is none, or too many.
    """
    if not 1 <= trials <= MOST_TRIALS:
        raise BadSweep(f"'{trials}' trainings: from 1 to {MOST_TRIALS:,} can be tried.")
    return min(trials, size_of(space) or trials)


class GridSearch:
    """Every combination, in the order of the values."""

    def __init__(self, space: Space) -> None:
        """Nothing was trained yet.

        Raises:
            BadSweep: there are too many combinations, or more than can be counted.
        """
        found = combinations(space)
        self.count = len(found)
        self._left: Iterator[dict[str, str]] = iter(found)

    def propose(self) -> dict[str, str] | None:
        """The next combination."""
        return next(self._left, None)

    def end(self, chosen: dict[str, str], loss: float | None, *, stopped_at: int | None = None) -> None:
        """It makes no difference to what comes next."""


class OptunaSearch:
    """What optuna's TPE sampler proposes, for the least loss; no combination is trained twice."""

    def __init__(self, space: Space, trials: int, seed: int) -> None:
        """Begin a study in memory, whose proposals come of this seed.

        Raises:
            BadSweep: optuna is not installed, or so many trainings cannot be tried.
        """
        self.count = count_of(space, trials)
        self._space = space
        self._optuna = _optuna()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # trainings side by side are called an experiment in some of its versions
            sampler = self._optuna.samplers.TPESampler(seed=seed, constant_liar=True)
        self._study = self._optuna.create_study(sampler=sampler)
        self._asked: dict[tuple[str, ...], Any] = {}
        self._losses: dict[tuple[str, ...], float | None] = {}

    def propose(self) -> dict[str, str] | None:
        """A combination that was not trained yet."""
        if len(self._asked) == self.count:
            return None
        for _ in range(TRIES):
            trial = self._study.ask()
            chosen = self._suggest(trial)
            key = tuple(chosen.values())
            if key not in self._asked:
                self._asked[key] = trial
                return chosen
            self._tell(trial, self._losses.get(key))
        return self._first_untried()

    def end(self, chosen: dict[str, str], loss: float | None, *, stopped_at: int | None = None) -> None:
        """Tell the study: a training that was stopped says how far it came, as a pruned one."""
        key = tuple(chosen.values())
        trial = self._asked[key]
        if stopped_at is not None and loss is not None and loss == loss:
            trial.report(loss, stopped_at)
            self._study.tell(trial, state=self._optuna.trial.TrialState.PRUNED)
            return
        self._losses[key] = loss
        self._tell(trial, loss)

    def _tell(self, trial: Any, loss: float | None) -> None:
        if loss is None or loss != loss:
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(trial, loss)

    def _suggest(self, trial: Any) -> dict[str, str]:
        chosen: dict[str, str] = {}
        for name, one in self._space.items():
            if not isinstance(one, Span):
                chosen[name] = trial.suggest_categorical(name, one)
            elif one.is_whole:
                chosen[name] = one.text(trial.suggest_int(name, int(one.first), int(one.last), log=one.is_log))
            else:
                chosen[name] = one.text(trial.suggest_float(name, one.first, one.last, log=one.is_log))
        return chosen

    def _first_untried(self) -> dict[str, str] | None:
        """What is left where optuna only proposes what is known."""
        for chosen in all_of(self._space) if size_of(self._space) is not None else ():
            key = tuple(chosen.values())
            if key not in self._asked:
                known: dict[str, object] = {
                    name: int(text) if isinstance(self._space[name], Span) else text for name, text in chosen.items()
                }
                self._study.enqueue_trial(known)
                self._asked[key] = trial = self._study.ask()
                return self._suggest(trial)
        return None


def _optuna() -> Any:
    """The package, silent where nothing is wrong.

    Raises:
        BadSweep: it is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise BadSweep(NOT_INSTALLED) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
