import torch
inputs = torch.ones(2)
y = input + 1  # refused: Did you mean 'inputs'
