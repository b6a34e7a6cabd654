import torch
x = torch.ones(2)
y = eval("x + 1")  # refused: write the expression itself
