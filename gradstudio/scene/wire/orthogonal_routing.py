"""Ways of wires in level and upright stretches that meet no card and run on no other wire. No painting, no Qt here."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstudio.scene.arrays import distinct
from gradstudio.scene.geometry import FORWARD, Floats

Point = tuple[float, float]
Bools = NDArray[np.bool_]
CLEAR: Final = 6.0
"""Least distance of a stretch to cards."""
APART: Final = 6.0
"""Least distance of stretches of wires from different outputs."""
BEHIND: Final = 3000.0
"""A card in the way counts as so many scene pixels."""
CROWD: Final = 150.0
"""So many count for running on another output's wire."""
TURN: Final = 24.0
"""And so many for another upright stretch."""
OFF: Final = 0.05
"""A pixel away from the middle counts so much."""
TRACKS: Final = np.array([14.0, 20.0, 26.0, 32.0])
"""How far from ports and edges of cards stretches run."""
MIDDLES: Final = np.arange(-5, 6) * 7.0
"""Tracks around the middle between two ports."""
MOST: Final = 8
"""Places of an upright stretch that are tried at each end."""
MOST_LANES: Final = 32
LEAST_STUB: Final = 8.0
STUB: Final = 80.0
"""So far from a port the height of it belongs to its wire."""
MOST_COMPARED: Final = 40
"""So many of the shortest ways are compared with those of other wires."""


class Way(NamedTuple):
    """Level from the start to `out`, upright to the height of `lane`, level to `into`, upright and level to the end."""

    start: Point
    out: float
    lane: float
    into: float
    end: Point

    @property
    def stops(self) -> Floats:
        """Its ends and corners, `(6, 2)`."""
        (_, top), (_, low) = self.start, self.end
        corners = [(self.out, top), (self.out, self.lane), (self.into, self.lane), (self.into, low)]
        return np.array([self.start, *corners, self.end])


class Stretches:
    """Stretches of one direction: where each lies across, from where to where it goes along, the port it leaves."""

    def __init__(self) -> None:
        """There is none."""
        self._rows, self._count = np.empty((256, 5)), 0

    def add(self, at: float, one: float, other: float, port: Point) -> None:
        """A wire goes along there."""
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._count] = at, min(one, other), max(one, other), *port
        self._count += 1

    def __len__(self) -> int:
        """How many there are."""
        return self._count

    def since(self, count: int) -> Floats:
        """Those that came after so many, `(stretches, 5)`."""
        return self._rows[count : self._count].copy()

    def extend(self, rows: Floats) -> None:
        """Wires go along there, `(stretches, 5)`."""
        count = self._count + len(rows)
        if count > len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty((count, 5))])
        self._rows[self._count : count] = rows
        self._count = count

    def met(self, port: Point, at: Floats, low: Floats, high: Floats) -> Bools:
        """Which of some stretches of a wire from a port run on another output's."""
        rows = self._rows[: self._count]
        rows = rows[(rows[:, 0] > at.min() - APART) & (rows[:, 0] < at.max() + APART)]
        rows = rows[(rows[:, 3] != port[0]) | (rows[:, 4] != port[1])]
        near = np.abs(rows[:, 0] - at[:, None]) < APART
        found: Bools = (near & (rows[:, 1] < high[:, None]) & (rows[:, 2] > low[:, None])).any(1)
        return found


class Taken:
    """The stretches of wires that have their way already."""

    def __init__(self) -> None:
        """None has."""
        self.levels, self.uprights = Stretches(), Stretches()

    def add(self, way: Way) -> None:
        """A wire goes this way."""
        port, (x, y), (end_x, end_y) = way.start, way.start, way.end
        for height, one, other in ((y, x, way.out), (way.lane, way.out, way.into), (end_y, way.into, end_x)):
            self.levels.add(height, one, other, port)
        for at, one, other in ((way.out, y, way.lane), (way.into, way.lane, end_y)):
            if one != other:
                self.uprights.add(at, one, other, port)

    def is_run_on(self, way: Way) -> bool:
        """Whether its first upright stretch runs on another output's."""
        low, high = sorted((way.start[1], way.lane))
        return bool(self.uprights.met(way.start, np.array([way.out]), np.array([low]), np.array([high]))[0])

    def is_free(self, height: float, low: float, high: float, port: Point) -> bool:
        """Whether a level stretch of a wire from a port runs on no other output's."""
        return not self.levels.met(port, np.array([height]), np.array([low]), np.array([high]))[0]

    def crowding(self, start: Point, end: Point, lane: Floats, out: Floats, into: Floats) -> Floats:
        """How many stretches of each of some ways run on another output's."""
        found = self.levels.met(start, lane, np.minimum(out, into), np.maximum(out, into)).astype(np.float64)
        found += self.uprights.met(start, out, *_extent(lane, start[1]))
        found += self.uprights.met(start, into, *_extent(lane, end[1]))
        return found


def port_levels(paths: Floats) -> Floats:
    """The heights of the ports of some wires, near them, as rows of `Stretches`."""
    (sx, sy), (ex, ey) = paths[:, 0].T, paths[:, -1].T
    starts = np.stack([sy, sx, sx + STUB, sx, sy], 1)
    return np.concatenate([starts, np.stack([ey, ex - STUB, ex, sx, sy], 1)])


def find_way(start: Point, end: Point, others: Floats, taken: Taken, *, is_plain: bool = False) -> tuple[Way, int]:
    """The best way between two ports, and how many cards it runs behind.

    Args:
        start, end: an output's place and an input's.
        others: cards and the like, `(others, 4)` as left, top, right, bottom; also those of the ports.
        taken: the ways of other wires.
        is_plain: nothing but one upright stretch near the middle is tried.
    """
    outs, intos, lanes = _plain(start, end) if is_plain else _places(start, end, others)
    hits = _hits(start, end, others, outs, intos, lanes)
    cost = BEHIND * hits + _lengths(start, end, outs, intos, lanes)
    best = np.argsort(cost, axis=None)[:MOST_COMPARED]
    lane, out, into = np.unravel_index(best, cost.shape)
    crowd = taken.crowding(start, end, lanes[lane], outs[out], intos[into])
    k = int(np.argmin(cost.ravel()[best] + CROWD * crowd))
    way = Way(start, float(outs[out[k]]), float(lanes[lane[k]]), float(intos[into[k]]), end)
    return way, int(hits[lane[k], out[k], into[k]])


def _hits(start: Point, end: Point, others: Floats, outs: Floats, intos: Floats, lanes: Floats) -> Floats:
    """How many cards are behind the ways with these lanes and upright stretches, `(lanes, outs, intos)`."""
    (sx, sy), (ex, ey) = start, end
    left, top, right, bottom = others.T
    low, high = np.minimum.outer(outs, intos).ravel(), np.maximum.outer(outs, intos).ravel()
    along = (left < high[:, None]) & (right > low[:, None])
    hits = _met(_within(lanes, top, bottom), along).reshape(len(lanes), len(outs), len(intos))
    hits += _met(_spans(*_extent(lanes, sy), top, bottom), _within(outs, left, right))[:, :, None]
    hits += _met(_spans(*_extent(lanes, ey), top, bottom), _within(intos, left, right))[:, None, :]
    hits += _ahead(others, sy, sx, outs)[None, :, None] + _behind(others, ey, ex, intos)[None, None, :]
    return hits


def _lengths(start: Point, end: Point, outs: Floats, intos: Floats, lanes: Floats) -> Floats:
    """How long these ways are; turns count, too, and a little how far they are from the middle."""
    (sx, sy), (ex, ey) = start, end
    rises, falls = np.abs(lanes - sy), np.abs(lanes - ey)
    upright = rises + falls + TURN * (rises > 0) + TURN * (falls > 0)
    across = np.abs(outs - sx)[:, None] + np.abs(np.subtract.outer(outs, intos)) + np.abs(ex - intos)[None]
    across = across + OFF * (np.abs(outs - sx)[:, None] + np.abs(intos - (sx + ex) / 2)[None])
    length: Floats = upright[:, None, None] + across[None]
    return length


def _plain(start: Point, end: Point) -> tuple[Floats, Floats, Floats]:
    """Level to near the middle, upright, and level again."""
    (sx, sy), (ex, _) = start, end
    middles = (sx + ex) / 2 + MIDDLES
    stub = min(LEAST_STUB, (ex - sx) / 3)
    within: Floats = middles[(middles >= sx + stub) & (middles <= ex - stub)].astype(np.float64)
    return np.array([sx + stub]), within, np.array([sy])


def _places(start: Point, end: Point, others: Floats) -> tuple[Floats, Floats, Floats]:
    """The places of the upright stretches and the heights of the lane that are tried."""
    (sx, sy), (ex, ey) = start, end
    is_forward = ex >= sx + FORWARD
    stub = min(LEAST_STUB, (ex - sx) / 3) if is_forward else LEAST_STUB
    edges = _beside(others[:, 0], others[:, 2])
    middles: Floats = np.asarray((sx + ex) / 2 + MIDDLES, dtype=np.float64)[: len(MIDDLES) if is_forward else 0]
    outs = distinct(np.concatenate([[sx + stub], sx + TRACKS, edges, middles]))
    outs = outs[outs >= sx + stub]
    outs = outs[np.argsort(outs - sx + BEHIND * _ahead(others, sy, sx, outs), kind="stable")[:MOST]]
    intos: Floats = distinct(np.concatenate([[ex - stub], ex - TRACKS, edges, middles]))
    intos = intos[intos <= ex - stub]
    intos = intos[np.argsort(ex - intos + BEHIND * _behind(others, ey, ex, intos), kind="stable")[:MOST]]
    return outs, intos, _lanes(start, end, others)


def _lanes(start: Point, end: Point, others: Floats) -> Floats:
    """The heights of the ports, and the best of those above and below cards: near, and with few cards along them."""
    (sx, sy), (ex, ey) = start, end
    heights = distinct(_beside(others[:, 1], others[:, 3]))
    near = others[(others[:, 0] < max(sx, ex)) & (others[:, 2] > min(sx, ex))]
    cost = np.abs(heights - sy) + np.abs(heights - ey) + BEHIND * _sum(_within(heights, near[:, 1], near[:, 3]))
    return np.concatenate([heights[np.argsort(cost, kind="stable")[:MOST_LANES]], [sy, ey]])


def _beside(low: Floats, high: Floats) -> Floats:
    """The tracks on both sides of cards."""
    return np.concatenate([np.subtract.outer(low, TRACKS).ravel(), np.add.outer(high, TRACKS).ravel()])


def _extent(lanes: Floats, height: float) -> tuple[Floats, Floats]:
    """From where to where an upright stretch between each lane and a height goes; nowhere where they are one."""
    low, high = np.minimum(lanes, height), np.maximum(lanes, height)
    nowhere = high - low < 0.5
    return np.where(nowhere, np.inf, low), np.where(nowhere, -np.inf, high)


def _within(places: Floats, low: Floats, high: Floats) -> Bools:
    """Which obstacles lie across each place."""
    across: Bools = (low - CLEAR < places[:, None]) & (high + CLEAR > places[:, None])
    return across


def _spans(begin: Floats, end: Floats, low: Floats, high: Floats) -> Bools:
    """Which obstacles each extent meets."""
    meets: Bools = (low - CLEAR < end[:, None]) & (high + CLEAR > begin[:, None])
    return meets


def _ahead(others: Floats, height: float, start: float, outs: Floats) -> Floats:
    """How many cards lie between a port and the place where its wire turns."""
    near = others[(others[:, 1] < height) & (others[:, 3] > height) & (others[:, 2] > start + 0.5)]
    return _sum(near[:, 0] < outs[:, None] + CLEAR)


def _behind(others: Floats, height: float, end: float, intos: Floats) -> Floats:
    """The same at the end of a wire."""
    near = others[(others[:, 1] < height) & (others[:, 3] > height) & (others[:, 0] < end - 0.5)]
    return _sum(near[:, 2] > intos[:, None] - CLEAR)


def _sum(found: Bools) -> Floats:
    counted: Floats = found.sum(1).astype(np.float64)
    return counted


def _met(rows: Bools, columns: Bools) -> Floats:
    """How many obstacles both meet, of each of the rows and each of the columns."""
    met: Floats = (rows.astype(np.float32) @ columns.astype(np.float32).T).astype(np.float64)
    return met
