from __future__ import annotations

import torch


class Node:
    def __init__(self, value: float, parent: Node | None = None) -> None:
        self.value, self.parent = value, parent

    def path(self) -> list[NotDefinedAnywhere]:
        return [self.value] + (self.parent.path() if self.parent else [])


leaf = Node(2.0, Node(1.0))
x = torch.tensor(leaf.path())
print(x)
