import torch
from torch import nn


class AutoEncoder(nn.Module):
    def __init__(self, size=4, code=2):
        super().__init__()
        self.encoder = nn.Linear(size, code)
        self.decoder = nn.Linear(code, size)
        self.calls = 0

    def encode(self, x):
        self.calls += 1
        return torch.relu(self.encoder(x))

    def forward(self, x):
        if self.training:
            x = x + 0.0
        return self.decoder(self.encode(x))

    def __repr__(self):
        return f"AutoEncoder({self.calls})"


torch.manual_seed(0)
model = AutoEncoder()
x = torch.randn(3, 4)
loss = ((model(x) - x) ** 2).mean()
loss.backward()
code = model.encode(x)
calls = model.calls
names = [n for n, _ in model.named_parameters()]
print(model, calls, names)
