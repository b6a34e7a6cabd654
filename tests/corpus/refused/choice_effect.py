import torch
x = torch.ones(2, requires_grad=True)
y = x.sum()
z = y.requires_grad and y.backward()  # refused: cannot be called within
