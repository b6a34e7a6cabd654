import torch
x = torch.ones(2)
k = ().__class__.__base__.__subclasses__()  # refused: __
