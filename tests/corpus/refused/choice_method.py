import torch
x = torch.ones(2)
f = x.numpy().tofile if len(x) else None  # refused: cannot be read within
f("out.bin")
