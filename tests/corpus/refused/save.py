import torch
x = torch.ones(2)
torch.save(x, "x.pt")  # refused: writes no files
