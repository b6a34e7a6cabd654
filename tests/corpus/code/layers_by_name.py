import torch
import torch.nn as nn
from dataclasses import dataclass


@dataclass
class Config:
    n_layer: int = 2
    n: int = 4
    vocab: int = 7


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.fc = nn.Linear(config.n, config.n)

    def forward(self, x):
        return x + torch.relu(self.fc(x))


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.parts = nn.ModuleDict(dict(
            wte = nn.Embedding(config.vocab, config.n),
            drop = nn.Dropout(0.0),
            h = nn.ModuleList([Block(config) for _ in range(config.n_layer)]),
            ln = nn.LayerNorm(config.n),
        ))
        self.head = nn.Linear(config.n, config.vocab, bias=False)
        self.parts.wte.weight = self.head.weight

    def forward(self, idx):
        x = self.parts.drop(self.parts.wte(idx))
        for block in self.parts.h:
            x = block(x)
        return self.head(self.parts.ln(x))


torch.manual_seed(3)
model = Model(Config())
idx = torch.tensor([[1, 2, 3]])
logits = model(idx)
loss = logits.logsumexp(-1).sum()
loss.backward()
total = torch.randn(2).sum() + sum([p.numel() for p in model.parameters()])
print(round(loss.item(), 4), [name for name, _ in model.named_parameters()])
