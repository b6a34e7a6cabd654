import torch
with torch.profiler.profile() as prof:  # refused: binds a name
    x = torch.ones(2)
