import torch
hyper = {"lr": 0.1, "steps": 3}  # refused: bind its values to names
x = torch.ones(2) * hyper["lr"]
