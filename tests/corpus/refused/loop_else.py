import torch
x = torch.zeros(1)
for i in range(3):
    x = x + i
else:
    x = x * 2  # refused: behind the loop
