"""A text that says what it is, and how its annotations are read."""

from __future__ import annotations

import torch


class Meter:
    def __init__(self) -> None:
        self.values: list[Unknown] = []

    def add(self, value: torch.Tensor) -> Meter:
        self.values.append(value.item())
        return self


w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w * w).sum()
loss.backward()
meter = Meter().add(loss)
print(meter.values, Meter.add.__annotations__)
