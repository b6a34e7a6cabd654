import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.ln = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        return x + self.mlp(self.ln(x))


class Model(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        x = self.blocks(x)
        return self.head(x.mean(dim=1))


torch.manual_seed(0)
model = Model(8, 3)
x = torch.randn(2, 4, 8)
logits = model(x)
n_params = sum(p.numel() for p in model.parameters())
print(f"{n_params} parameters")
