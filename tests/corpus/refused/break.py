import torch
x = torch.tensor(8.0)
for i in range(10):
    x = x / 2
    break  # refused: ends a loop early
