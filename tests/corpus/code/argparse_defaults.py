import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description="Train something small")
parser.add_argument("--epochs", type=int, default=3, metavar="N", help="how many (default: 3)")
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--no-cuda", action="store_true", default=False)
args = parser.parse_args()
use_cuda = not args.no_cuda and torch.cuda.is_available()

torch.manual_seed(1)
w = torch.zeros(2, requires_grad=True)
x = torch.tensor([1.0, 2.0])
for epoch in range(1, args.epochs + 1):
    loss = ((w * x).sum() - 3) ** 2
    loss.backward()
    with torch.no_grad():
        w -= args.lr * w.grad
    w.grad = None
    print("epoch", epoch, loss.item())
