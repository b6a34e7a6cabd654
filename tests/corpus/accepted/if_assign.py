import torch
x = torch.randn(3)
if torch.cuda.is_available():
    y = x
