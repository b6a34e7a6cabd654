"""Finding an operator by what a person types: its name, a part of it, or an everyday word for it.

A query as a whole is looked up first, without spaces and underscores: the exact name, an everyday word, the
beginning of either, a slip of the keyboard. Then word by word, with categories and summaries. Where operators fit
alike, the plain everyday one stands before its method, module, in-place and rare forms.
"""

import re
from collections.abc import Collection, Generator, Iterable, Iterator
from enum import IntEnum
from typing import Final

import msgspec

from gradstudio.operators.model import Face, Operator
from gradstudio.operators.search import query as queries
from gradstudio.operators.search.query import Form, Query, squash
from gradstudio.operators.search.synonyms import NONE, Synonyms


class Find(msgspec.Struct, frozen=True):
    """An operator that fits a query; `phrase` is the everyday word by which it was found, "" for its name."""

    operator: Operator
    phrase: str = ""


class Kind(IntEnum):
    """What of an operator the query was found in."""

    NAME = 0
    IN_PLACE_NAME = 1  # of `add_`, without the underscore
    SYNONYM = 2  # of `resources/search`
    WORD = 3  # a search word of its row
    NAME_END = 4  # its name from the middle on
    RARE_WORD = 5  # a search word of a row that nobody wrote by hand
    MEANT = 6  # of `resources/search`, where everybody means this and not what has the name


_EXACT: Final = (1200.0, 880.0, 940.0, 880.0, 620.0, 600.0, 1340.0)
_BEGINNING: Final = (700.0, 560.0, 520.0, 490.0, 450.0, 380.0, 520.0)
_SLIP: Final = (640.0, 540.0, 600.0, 570.0, 420.0, 350.0, 600.0)
_SECOND_SLIP: Final = 90.0
_BEGINNING_SLIP: Final = 250.0
_LENGTH: Final = 60.0
"""What a beginning is worth more when it is nearly all of the word."""
_LATER: Final = 4.0
"""What an operator is worth less for each that is likelier for the same word."""
_LESS_LIKELY: Final = 25.0
"""The same for `resources/search`, whose order is meant."""
_SHORTENED: Final = 20.0
"""What a name is worth less without its `_loss` or `2d`."""
_OTHER_ORDER: Final = 30.0
_BY_SYMBOL: Final = 40.0
"""What `matmul` is worth less for `@`, of which it is no name that one sees."""
_MIDDLE: Final = 300.0
_GOOD: Final = 480.0
"""Slips of the keyboard are not looked for when something was found that is worth this."""
_SURE: Final = 900.0
"""A row worth this much is what was asked for; rows far off are left out then."""
_FAR_OFF: Final = 105.0
_WHOLE: Final = 780.0
"""Below this no name or word is the query as a whole, and what is used every day counts twice."""
_EVERYDAY: Final = 30.0
_PREFERRED: Final = 12.0
_SAME_LETTERS: Final = 55.0
_SAME_CASE: Final = 40.0
_FORM: Final = 90.0
_HOME: Final = 110.0
_PLAINER: Final = 3.0
_RARE: Final = 100.0
_NOT_TORCHS: Final = 300.0
"""Of Python's and numpy's own rows: whoever searches a canvas of tensors means torch's."""
_RARE_NAME: Final = 200.0
"""A rare name counts as everyday words do, unless it was typed letter by letter."""
_IN_PLACE: Final = 60.0
_HANDICAPS: Final = (
    ("torch.signal.", 280.0),
    ("torch.masked.", 280.0),
    ("torch.sparse.", 280.0),
    ("torch.nested.", 280.0),
    ("math.", 280.0),
    ("builtins.", 60.0),
    ("numpy.", 60.0),
    ("torch.special.", 40.0),
    ("torch.Tensor.", 8.0),
    ("torch.nn.Module.", 14.0),
    ("torch.nn.functional.", 0.0),
    ("torch.nn.init.", 0.0),
    ("torch.nn.", 12.0),
    ("torch.autograd.", 16.0),
)
_NO_OTHER_FORM: Final = ("torch.nn.init.", "torch.nn.utils.", "torch.nn.Module.", "operator.")
_NEAR_ENOUGH: Final = 0.34
_SLICE: Final = 300
"""Rows read at a time while a window is answering."""

_SHORT: Final = re.compile(r"(?:loss|\dd)$")

Scores = dict[int, tuple[float, str]]


class _Place:
    """One way in which a word leads to a row."""

    __slots__ = ("kind", "less", "phrase", "row")

    def __init__(self, row: int, kind: Kind, less: float, phrase: str) -> None:
        self.row = row
        self.kind = kind
        self.less = less
        self.phrase = phrase


class SearchIndex:
    """An index over operators; built once, asked at every keystroke."""

    def __init__(self, operators: Iterable[Operator], synonyms: Synonyms = NONE) -> None:
        """Read the rows; their order breaks ties."""
        for _ in self._slices(operators, synonyms):
            pass

    @classmethod
    def in_slices(
        cls, operators: Iterable[Operator], synonyms: Synonyms = NONE
    ) -> Generator[None, None, "SearchIndex"]:
        """The same a slice at a time, so that a window can answer in between."""
        made = cls.__new__(cls)
        yield from made._slices(operators, synonyms)
        return made

    def _slices(self, operators: Iterable[Operator], synonyms: Synonyms) -> Iterator[None]:
        from gradstudio.operators.search.typos import TypoIndex
        from gradstudio.operators.search.word_lookup import Lookup

        self._rows = tuple(operators)
        self._base = _bases(self._rows, synonyms.everyday)
        self._in_place = [_writes_in_place(row) for row in self._rows]
        self._places: dict[str, list[_Place]] = {}
        self._symbols: dict[str, list[int]] = {}
        for number, operator in enumerate(self._rows):
            self._add_names(number, operator)
            self._add_words(number, operator)
            if number % _SLICE == 0:
                yield
        self._add_synonyms(synonyms)
        yield
        self._known = sorted(self._places)
        self._spelled = frozenset(row.word.lower() for row in self._rows)
        self._names = "\n".join(dict.fromkeys(squash(row.word) for row in self._rows))
        self._slips = TypoIndex(word for word in self._known if " " not in word)
        yield
        self._lookup = Lookup(self._rows, synonyms)

    def search(self, typed: str, *, limit: int = 50) -> tuple[Operator, ...]:
        """The rows that fit, best first; all rows in order when nothing is typed."""
        return tuple(find.operator for find in self.find(typed, limit=limit))

    def find(self, typed: str, *, limit: int = 50, preferred: Collection[str] = ()) -> tuple[Find, ...]:
        """The rows that fit and why, best first; of rows alike those whose key is preferred come first."""
        if not typed.strip():
            return tuple(Find(row) for row in self._rows[:limit])
        query = queries.read(typed)
        scores = self._scores(query)
        worth = {row: self._worth(row, *score, query, preferred) for row, score in scores.items()}
        if max(worth.values(), default=0.0) >= _SURE:
            worth = {row: score for row, score in worth.items() if scores[row][0] >= _FAR_OFF}
        best = sorted(worth, key=lambda row: (-worth[row], row))
        return tuple(Find(self._rows[row], scores[row][1]) for row in best[:limit])

    def nearest(self, typed: str, *, limit: int = 3) -> tuple[Operator, ...]:
        """Rows whose names look most like what was typed, for when nothing fits."""
        wanted = _pairs(queries.read(typed).squashed)
        if not wanted:
            return ()
        alike: dict[int, float] = {}
        for number, row in enumerate(self._rows):
            its = _pairs(squash(row.word))
            shared = 2 * len(wanted & its) / (len(wanted) + len(its)) if its else 0.0
            if shared >= _NEAR_ENOUGH:
                alike[number] = shared + self._base[number] / 1000
        best = sorted(alike, key=lambda number: (-alike[number], number))
        by_name = dict.fromkeys(self._rows[number].word for number in best)
        first = {self._rows[number].word: self._rows[number] for number in reversed(best)}
        return tuple(first[word] for word in by_name)[:limit]

    # ------------------------------------------------------------------ building

    def _add_names(self, number: int, operator: Operator) -> None:
        kind = Kind.IN_PLACE_NAME if operator.word.endswith("_") else Kind.NAME
        by_symbol = _BY_SYMBOL if operator.symbol and operator.face is not Face.ATTRIBUTE else 0.0
        for text in {operator.title, operator.symbol, operator.key, operator.path} - {""}:
            self._symbols.setdefault(text.lower(), []).append(number)
        title = "" if by_symbol else squash(operator.title)
        for name in {title, squash(operator.word)} - {""}:
            self._add(name, _Place(number, kind, by_symbol, ""))
        short = _SHORT.sub("", squash(operator.word))
        if short != squash(operator.word):
            self._add(short, _Place(number, kind, _SHORTENED, ""))
        parts = list(queries.words(operator.word))
        for k in range(1, len(parts)):
            self._add("".join(parts[k:]), _Place(number, Kind.NAME_END, 2.0 * k, ""))
        if len(parts) > 1:
            self._add(_in_order(parts), _Place(number, kind, _OTHER_ORDER, ""))

    def _add_words(self, number: int, operator: Operator) -> None:
        kind = Kind.RARE_WORD if operator.rare else Kind.WORD
        for k, phrase in enumerate(operator.words):
            self._add_phrase(phrase, _Place(number, kind, _LATER * min(k, 8), phrase))

    def _add_synonyms(self, synonyms: Synonyms) -> None:
        paths: dict[str, list[int]] = {}
        for number, operator in enumerate(self._rows):
            paths.setdefault(operator.path, []).append(number)
            if operator.key != operator.path:
                paths.setdefault(operator.key, []).append(number)
        for phrase, targets in synonyms.phrases.items():
            kind = Kind.MEANT if phrase in synonyms.meant else Kind.SYNONYM
            there = [path for path in targets if path in paths]
            for k, path in enumerate(there):
                for number in paths[path]:
                    self._add_phrase(phrase, _Place(number, kind, _LESS_LIKELY * k, phrase), sure=True)

    def _add_phrase(self, phrase: str, place: _Place, *, sure: bool = False) -> None:
        self._add(squash(phrase), place)
        parts = [word for word in queries.words(phrase) if word not in queries.STOP_WORDS]
        if len(parts) > 1 and (sure or place.kind is Kind.WORD):
            self._add(_in_order(parts), _Place(place.row, place.kind, place.less + _OTHER_ORDER, place.phrase))

    def _add(self, word: str, place: _Place) -> None:
        if word:
            self._places.setdefault(word, []).append(place)

    # ------------------------------------------------------------------ looking up

    def _scores(self, query: Query) -> Scores:
        scores: Scores = {}
        for number in self._symbols.get(query.text, self._symbols.get(query.exact.lower(), ())):
            scores[number] = (_EXACT[Kind.NAME], "")
        if not query.squashed:
            if not query.text and (query.home or query.form is Form.METHOD):
                return dict.fromkeys(self._inside(query), (_FAR_OFF, ""))
            return scores
        self._whole(query, scores)
        for number, score in self._lookup.find(query.tokens).items():
            known = scores.get(number)
            scores[number] = (score, "") if known is None else (known[0] + score / 20, known[1])
        return scores

    def _whole(self, query: Query, scores: Scores) -> None:
        """What the query as a whole is found in."""
        from gradstudio.operators.search.word_lookup import longer_words

        typed = query.squashed
        if not self._goes_on(query):
            self._take(scores, typed, _EXACT, query.form)
        if len(query.tokens) > 1:
            self._take(scores, _in_order(query.tokens), _EXACT, query.form)
            self._take(scores, "".join(query.tokens), _EXACT, query.form)
        for word in longer_words(self._known, typed):
            if " " not in word:
                self._take(scores, word, _BEGINNING, query.form, _LENGTH * len(typed) / len(word), len(typed) < 2)
        if max((score for score, _phrase in scores.values()), default=0.0) >= _GOOD:
            return
        for word in self._shorter(typed):
            self._take(scores, word, _SLIP, query.form, -_SECOND_SLIP - 10.0 * (len(typed) - len(word)))
        for word, slips in self._slips.like(typed).items():
            self._take(scores, word, _SLIP, query.form, -_SECOND_SLIP * (slips - 1))
        for word in self._slips.beginning_like(typed):
            self._take(scores, word, _BEGINNING, query.form, -_BEGINNING_SLIP)
        if len(typed) > 2:
            for word in self._with_in_the_middle(typed):
                self._take(scores, word, (_MIDDLE,) * len(Kind), query.form, -len(word))

    def _goes_on(self, query: Query) -> bool:
        """Whether ``cross_`` is the beginning of ``cross_entropy``, and no operator in place."""
        if query.form is not Form.IN_PLACE or query.text in self._spelled:
            return False
        return any(word.startswith(query.text) for word in self._spelled)

    def _take(
        self, scores: Scores, word: str, values: tuple[float, ...], form: Form, more: float = 0.0, names: bool = False
    ) -> None:
        """The rows that a known word leads to, each with the best that was found for it."""
        for place in self._places.get(word, ()):
            kind = place.kind
            if names and kind > Kind.IN_PLACE_NAME:
                continue
            if kind is Kind.IN_PLACE_NAME and form is Form.IN_PLACE:
                kind = Kind.NAME
            score = values[kind] + more - place.less
            if score > scores.get(place.row, (0.0, ""))[0]:
                scores[place.row] = (score, place.phrase)

    def _shorter(self, typed: str) -> Iterator[str]:
        """Known words with which the typed one begins: `stacking`, `transposed`."""
        for length in range(len(typed) - 1, max(3, len(typed) // 2) - 1, -1):
            if typed[:length] in self._places:
                yield typed[:length]

    def _with_in_the_middle(self, typed: str) -> Iterator[str]:
        at = self._names.find(typed)
        while at >= 0:
            end = self._names.find("\n", at)
            yield self._names[self._names.rfind("\n", 0, at) + 1 : end if end >= 0 else None]
            at = self._names.find(typed, end) if end >= 0 else -1

    def _inside(self, query: Query) -> Iterator[int]:
        """All rows of a home, or all methods: a name and a dot were typed."""
        for number, row in enumerate(self._rows):
            if query.home:
                if row.path.startswith(query.home) and "." not in row.path[len(query.home) :]:
                    yield number
            elif row.face in _METHODS:
                yield number

    # ------------------------------------------------------------------ weighing

    def _worth(self, number: int, score: float, phrase: str, query: Query, preferred: Collection[str]) -> float:
        """The score of a row, with what it is and how it was asked for."""
        row = self._rows[number]
        base = self._base[number]
        if score < _WHOLE:
            base *= 2
        elif phrase:
            base /= 2
        worth = score + base
        if query.text == row.word.lower():
            worth += _SAME_LETTERS
            if query.exact == row.word or query.exact.endswith(f".{row.word}"):
                worth += _SAME_CASE
        elif row.rare and score >= _EXACT[Kind.NAME] - _OTHER_ORDER:
            worth -= _RARE_NAME
        if row.key in preferred:
            worth += _PREFERRED
        if query.home:
            inside = row.path.startswith(query.home) and "." not in row.path[len(query.home) :]
            worth += _HOME if inside else -_HOME
        if query.form is not Form.ANY and self._has_form(number, row, query.form):
            worth += _FORM + (_IN_PLACE if self._in_place[number] else 0.0)
        return worth

    def _has_form(self, number: int, row: Operator, form: Form) -> bool:
        match form:
            case Form.METHOD:
                return row.face in _METHODS and not self._in_place[number]
            case Form.MODULE:
                return row.face is Face.CONSTRUCTOR and row.path.startswith("torch.nn.")
            case Form.IN_PLACE:
                return row.word.endswith("_")
            case Form.ANY:
                return True


_METHODS: Final = frozenset({Face.METHOD, Face.ATTRIBUTE})


def _bases(rows: tuple[Operator, ...], everyday: tuple[str, ...]) -> list[float]:
    """What each row is worth before anything is typed: used every day, or a rarer spelling of the same thing."""
    used = {path: _EVERYDAY * (1 - k / len(everyday)) + 5 for k, path in enumerate(everyday)}
    bases = {row.key: used.get(row.path, 0.0) - _handicap(row) for row in rows}
    for row in rows:
        method = bases.get(row.path.replace("torch.", "torch.Tensor.", 1))
        if method is not None and not row.rare:  # as plain as its method, or plainer
            bases[row.key] = max(bases[row.key], method + _PLAINER)
    for row in rows:
        if row.key != row.path and row.path in bases:
            bases[row.key] = min(bases[row.key], bases[row.path] - _PLAINER)
    return [bases[row.key] for row in rows]


def _handicap(row: Operator) -> float:
    rare = _RARE if row.rare else 0.0
    if row.rare and row.path.startswith(("numpy.", "builtins.")):
        rare += _NOT_TORCHS
    in_place = _IN_PLACE if _writes_in_place(row) else 0.0
    if in_place and not row.path.startswith("torch.Tensor."):
        in_place += _LESS_LIKELY
    return rare + in_place + next((cost for head, cost in _HANDICAPS if row.path.startswith(head)), 0.0)


def _writes_in_place(row: Operator) -> bool:
    """`add_` and its like; initialisers and `+=` have no other form."""
    return row.word.endswith("_") and not row.path.startswith(_NO_OTHER_FORM)


def _in_order(parts: Iterable[str]) -> str:
    """The words in alphabetical order: the order in which they were typed matters little."""
    return " ".join(sorted(parts))


def _pairs(word: str) -> set[str]:
    return {word[k : k + 2] for k in range(len(word) - 1)}
