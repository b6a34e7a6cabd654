"""What went back along each wire in one backward, once every autograd node has told what it sent."""

from collections.abc import Mapping, Sequence
from operator import attrgetter

from gradstudio.engine.backward.backward_reachability import NOBODY, Edge, Reach
from gradstudio.engine.backward.backward_seeds import Seed
from gradstudio.engine.gradient.wire_edges import Alias, Sending, Turns, deal
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import WireGrad


def wire_gradients(
    reach: Reach, ran: Mapping[tuple[ItemId, Turns], int], seeds: Sequence[Seed], max_values: int
) -> list[WireGrad]:
    """The record of every wire whose target ran, in the order they were completed.

    Args:
        reach: the graph, with what was sent so far.
        ran: of each call that had a part in it, the place of the last autograd node.
        seeds: what the backward statement began with; none where nothing ran.
        max_values: exact values are told up to so many elements.
    """
    sent = [sending for sending in reach.sendings if sending.parts or (sending.target, sending.turns) in ran]
    for sending in sent:
        if not sending.parts:
            sending.place = ran[sending.target, sending.turns]
        elif sending.parts > 1 and sending.total is not None:
            sending.summary = summarise(sending.total, max_values)
    aliases = reach.aliases()
    if aliases:
        _pass_on(reach, aliases, sent, _sendings_of_seeds(reach, seeds, max_values), max_values)
    sent.sort(key=attrgetter("place"))
    turns_of = reach.turns_of
    return [
        WireGrad(
            source=sending.source[0],
            target=sending.target,
            port=sending.port,
            output=sending.source[1],
            turns=sending.turns,
            source_turns=turns_of(sending.edge, sending.source[0], sending.target, sending.turns),
            place=sending.place,
            grad=sending.summary if sending.parts else None,
            parts=sending.parts,
        )
        for sending in sent
    ]


def _pass_on(
    reach: Reach, aliases: list[tuple[Edge, Alias]], sent: list[Sending], seeds: list[Sending], max_values: int
) -> None:
    """Statements that gave back what they were given: what their readers sent goes on as it is."""
    groups: dict[tuple[int, Edge], list[Alias]] = {}
    for edge, alias in aliases:
        groups.setdefault((alias.serial, edge), []).append(alias)
    for (_, edge), group in groups.items():
        alias = group[0]
        readers = [
            s
            for s in (*sent, *seeds)
            if s.edge == edge
            and s.source[0] == alias.node
            and reach.turns_of(edge, alias.node, s.target, s.turns) == alias.turns
        ]
        readers = sorted((r for r in readers if r.total is not None), key=lambda reader: reader.source[1])
        places = deal(len(readers), len(group))
        for place, alias in enumerate(group):
            sent += _passed(alias, edge, [r for r, at in zip(readers, places, strict=True) if at == place], max_values)


def _passed(alias: Alias, edge: Edge, readers: list[Sending], max_values: int) -> list[Sending]:
    """What an alias passes on of what its readers sent; [] when they sent nothing."""
    passing = Sending(alias.port, alias.source, alias.node, alias.turns, edge)
    passing.holds = True
    for reader in readers:
        if reader.total is not None:
            passing.add(reader.total, reader.place)
    if passing.total is None:
        return []
    passing.parts = sum(reader.parts for reader in readers)
    one = readers[0].summary if passing.parts == 1 else None
    passing.summary = one or summarise(passing.total, max_values)
    return [passing]


def _sendings_of_seeds(reach: Reach, seeds: Sequence[Seed], max_values: int) -> list[Sending]:
    """What the backward statement itself sends to its roots."""
    found: list[Sending] = []
    for seed in seeds:
        if seed.source is not None:
            sending = Sending("", seed.source, NOBODY, seed.turns, reach.edge_of(seed.root))
            sending.holds = True
            sending.add(seed.grad, 0)
            sending.summary = summarise(seed.grad, max_values)
            found.append(sending)
    return found
