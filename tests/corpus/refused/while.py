import torch
x = torch.tensor(10.0)
while x > 1:  # refused: for step in range(n)
    x = x / 2
