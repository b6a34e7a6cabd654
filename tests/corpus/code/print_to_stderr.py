import sys

import torch

x = torch.arange(3)
print("progress", end=" ", file=sys.stdout)
for i in range(3):
    print(i, end="," if i < 2 else "\n")
print("a", "b", sep="-")
print("x:", x, {"k": 1})
