import torch
from torch import nn

W = torch.randn(3)
W = W * 2


class Scale(nn.Module):
    def forward(self, x):
        return x * W  # refused: 'W' is bound outside of this definition


print(Scale()(torch.randn(3)))
