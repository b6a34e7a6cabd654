import torch
model = torch.nn.Linear(2, 2)
nn = model(torch.ones(2))  # refused: Try 'nn_'
