import torch
import torch.nn as nn


def make_data(n, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 2, generator=g)
    return x, (x[:, 0] > x[:, 1]).float()


def train(model, x, y, *, steps=5, lr=0.5):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    history = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history


def main():
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    x, y = make_data(16)
    history = train(model, x, y)
    print(f"{history[0]:.4f} -> {history[-1]:.4f}")
    return history


if __name__ == "__main__":
    history = main()
