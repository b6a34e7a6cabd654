"""The place of each wire stays right while others come and go."""

import random

import pytest

from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.wire_dots import End
from gradstudio.scene.wire.wire_places import FEW, WireChange, WirePlaces


@pytest.mark.parametrize("seed", range(4))
def test_places_are_those_of_the_list(seed: int) -> None:
    chance = random.Random(seed)
    ends: list[End] = [(ItemId(f"n{k}"), "input") for k in range(200)]
    places, number = WirePlaces(ends), 200
    for _ in range(40):
        most = 2 * FEW if chance.random() < 0.2 else 3
        gone = tuple(sorted(chance.sample(range(len(ends)), chance.randrange(min(most, len(ends))))))
        came: list[End] = [(ItemId(f"n{number + k}"), "input") for k in range(chance.randrange(most))]
        if gone and chance.random() < 0.5:
            came.append(ends[gone[0]])  # another wire into the same port
        number += len(came)
        change = WireChange(gone, len(came))
        before = ends
        ends = [end for k, end in enumerate(before) if k not in gone] + came
        assert [*change.kept(before), *came] == ends
        places.follow(change, [before[k] for k in gone], came)
        assert [places[end] for end in ends] == [places.get(end) for end in ends] == list(range(len(ends)))
        lost = set(before) - set(ends)
        assert not any(places.get(end) is not None for end in lost)
        assert places.among(before) == [k for end in before if (k := places.get(end)) is not None]
