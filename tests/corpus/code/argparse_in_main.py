import argparse
import os
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, 4)
        self.count = dict((k, 0) for k in range(2))
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        h = F.relu(self.fc(x))
        while h.sum() > 100:
            h = h / 2
        self.count[0] += 1
        return self.out(h)


def train(args, model, steps):
    opt = torch.optim.SGD(model.parameters(), lr=args.lr)
    losses = {}
    for k in range(steps):
        x = torch.randn(5, 3)
        loss = model(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses[k] = loss.item()
        with open(os.devnull, "w") as f:
            f.write(str(loss))
    total = sum(v for v in losses.values() if v)
    return total, {k: v for k, v in losses.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    torch.manual_seed(1)
    model = Net(3)
    print(model)
    return train(args, model, 3)


if __name__ == "__main__":
    result = main()
    print(result)
