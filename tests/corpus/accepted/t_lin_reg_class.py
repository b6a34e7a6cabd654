import torch
from torch import nn


class LinearRegression(nn.Module):
    """A linear model from scratch."""

    def __init__(self, num_inputs, lr, sigma=0.01):
        super().__init__()
        self.lr = lr
        self.w = nn.Parameter(torch.normal(0, sigma, (num_inputs, 1)))
        self.b = nn.Parameter(torch.zeros(1))

    def forward(self, X):
        return torch.matmul(X, self.w) + self.b

    def loss(self, y_hat, y):
        l = (y_hat - y) ** 2 / 2
        return l.mean()

    @torch.no_grad()
    def step(self):
        for p in self.parameters():
            p -= self.lr * p.grad
            p.grad.zero_()


torch.manual_seed(0)
model = LinearRegression(2, lr=0.03)
X = torch.randn(100, 2)
y = X @ torch.tensor([[2.0], [-3.4]]) + 4.2
for epoch in range(3):
    l = model.loss(model(X), y)
    l.backward()
    model.step()
    print(f'epoch {epoch + 1}, loss {float(l):f}')
error_w = torch.tensor([[2.0], [-3.4]]) - model.w.detach()
