from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

import torch


@dataclass
class Config:
    width: int = 4
    depth: int = 2
    names: List[str] = field(default_factory=list)


def build(config: Config, extra: Optional[int] = None) -> Tuple[int, int]:
    return config.width + (extra or 0), config.depth


config: Config = Config(names=["a"])
size, depth = build(config, 2)
table: Dict[str, int] = {"x": 1}
x: torch.Tensor = torch.zeros(size, depth)
count = len(config.names)
print(config, x.shape)
