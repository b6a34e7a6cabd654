import argparse
import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser(description="toy")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()


class Counted:
    def __init__(self):
        self.seen = []
        self.inner = args

    @property
    def scale(self):
        self.seen.append(len(self.seen))
        return 2.0 + len(self.seen)


counted = Counted()
torch.manual_seed(0)
X = torch.randn(16, 4)
y = (X.sum(dim=1) > 0).long()
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=args.lr)

for epoch in range(args.epochs):
    optimizer.zero_grad()
    loss = criterion(model(X), y) * counted.scale
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f} at {args.lr}")

args.lr = 0.5
late = args.lr
deep = counted.inner.epochs
w = torch.ones(2, requires_grad=True)
z = (w * counted.scale + args.lr).sum()
z.backward()
seen = list(counted.seen)
print(late, deep, w.grad, seen)
