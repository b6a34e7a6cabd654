"""Models in the manner of what people write, to be brought. Read by path, never imported by a test."""

import math
import sys
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.functional import relu


class MLP(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.fc1 = nn.Linear(8, hidden)
        self.fc2 = nn.Linear(hidden, 4)

    def forward(self, x):
        h = F.relu(self.fc1(x))
        return self.fc2(h)


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, padding=1)
        self.bn = nn.BatchNorm2d(6)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(6 * 4 * 4, 5)

    def forward(self, x):
        x = self.pool(torch.relu(self.bn(self.conv1(x))))
        x = torch.flatten(x, 1)
        return self.fc(x)


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return relu(x + y)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.layers = nn.ModuleList([Block(8) for _ in range(2)])
        self.drop = nn.Dropout(0.3)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = layer(x)
        x = x.mean(dim=(2, 3))
        return self.head(self.drop(x))


class Attention(nn.Module):
    def __init__(self, d=16, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.register_buffer("mask", torch.tril(torch.ones(16, 16)).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(C // self.heads)
        att = att.masked_fill(~self.mask[:T, :T], float("-inf"))
        y = (F.softmax(att, dim=-1) @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.proj(y)


class TransformerBlock(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.ln1 = nn.LayerNorm(d)
        self.attn = Attention(d)
        self.ln2 = nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    """Tied weights, a parameter of its own, and blocks in a Sequential."""

    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(50, 16)
        self.pos = nn.Parameter(torch.randn(1, 16, 16) * 0.02)
        self.blocks = nn.Sequential(TransformerBlock(), TransformerBlock())
        self.ln = nn.LayerNorm(16)
        self.head = nn.Linear(16, 50, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, idx):
        x = self.tok(idx) + self.pos[:, : idx.shape[1]]
        return self.head(self.ln(self.blocks(x)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, dim_feedforward=32, batch_first=True)
        self.stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 24, 0.0, batch_first=True), 2)
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        return self.out(self.stack(self.layer(x))[:, 0])


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 12, num_layers=2, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(24, 3)

    def forward(self, tokens):
        out, (h, _) = self.lstm(self.emb(tokens))
        return self.fc(torch.cat([h[-2], h[-1]], dim=1)), out


class Counter(nn.Module):
    """A loop over time with a cell; unrolled."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 10)
        self.fc = nn.Linear(10, 2)

    def forward(self, x):
        h = torch.zeros(x.size(0), 10)
        seen = []
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
            seen.append(h)
        return self.fc(torch.stack(seen, dim=1))


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 12), nn.Sigmoid())

    def forward(self, x):
        z = self.encoder(x)
        return {"z": z, "x": self.decoder(z)}


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunks = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.heads = nn.ModuleDict({"mean": nn.Linear(4, 2), "log_var": nn.Linear(4, 2)})

    def forward(self, x, y=None):
        for trunk in self.trunks:
            x = x + torch.tanh(trunk(x))
        if y is not None:
            x = x * y
        return self.heads["mean"](x), self.heads["log_var"](x).exp()


class Own(nn.Module):
    """Parameters, buffers and constants of its own; einsum; operators both ways round; writes in place."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.empty(4, 5))
        nn.init.xavier_uniform_(self.w)
        self.gain = nn.Parameter(torch.ones(5))
        self.frozen = nn.Parameter(torch.full((5,), 0.5), requires_grad=False)
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.scale = torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5])

    def forward(self, x):
        self.steps += 1
        y = torch.einsum("bi,ij->bj", x, self.w)
        y = 1 - y * self.gain + self.frozen / 2
        y = 2.0 / (y.abs() + 1) - y**2
        mask = torch.from_numpy(np.array([True, False, True, True, False]))
        y = torch.where(mask, y, torch.zeros_like(y))
        z = y.clone()
        z[:, 0] = 3.0
        z[:, 1:3] *= self.scale[1:3]
        z.mul_(0.5).add_(1)
        return z


class Branches(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.depth = depth
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        for k in range(self.depth):
            x = self.fc(x) if k % 2 else -x
        if x.sum() > 1e6:
            return x
        with torch.no_grad():
            shift = x.mean(dim=0, keepdim=True)
            shift = shift * 2
        return x - shift


class Dropped(nn.Module):
    """Random numbers between layers that draw their own."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 6)
        self.b = nn.Linear(6, 6)

    def forward(self, x):
        x = F.dropout(self.a(x), 0.4, training=self.training)
        return F.dropout(self.b(x), 0.2, training=self.training) + torch.rand(1)


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(4, 1, 3, 3) * 0.1)

    def forward(self, image):
        y = F.conv2d(image, self.kernel, padding=1)
        y = F.max_pool2d(F.leaky_relu(y, 0.1), kernel_size=2)
        y = F.interpolate(y, scale_factor=2, mode="nearest")
        y = F.pad(y, (1, 1), value=0.5)
        return F.layer_norm(y, y.shape[-2:]).flatten(1).norm(dim=1)


class CustomInit(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 30), nn.ReLU(inplace=True), nn.Linear(30, 2))
        for m in self.net:
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, std=0.02)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.net(x)


class OutOfOrder(nn.Module):
    """Layers that are called in another order than they are constructed, one of them twice, one never."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(40, 2)
        self.never = nn.Linear(9, 9)
        self.shared = nn.Linear(40, 40)
        self.first = nn.Linear(5, 40)

    def forward(self, x):
        x = self.shared(self.shared(self.first(x)))
        return self.last(x)


class Double(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3).double()
        self.fc.bias.requires_grad_(False)

    def forward(self, x):
        return self.fc(x.double())


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.LazyLinear(4)

    def forward(self, x):
        return self.fc(x)


class NeedsArguments(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x, *, scale):
        return self.layers(x) * scale


class Raises(nn.Module):
    def forward(self, x):
        self.y = x + 1
        raise ValueError("not today")


class Exits(nn.Module):
    def forward(self, x):
        sys.exit(3)


class Dies(nn.Module):
    def forward(self, x):
        import os

        os._exit(7)


class Endless(nn.Module):
    def forward(self, x):
        while True:
            x = x.detach() + 0


class Secret(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class OwnBackward(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return Secret.apply(self.fc(x)) + 1


class Unknown(nn.Module):
    def forward(self, x):
        y = x * 2
        return torch._foreach_add([y], 1.0)[0]


class NoModule:
    pass


def make(width=3):
    """A function that gives a module."""
    return nn.Sequential(nn.Linear(width, width), nn.Softplus())


trained = MLP()
with torch.no_grad():
    trained.fc1.weight.add_(0.3)
evaluated = CNN().eval()
number = 5


class Positions(nn.Module):
    """A table made in place by the constructor; a branch that a tensor decides."""

    def __init__(self, width=6):
        super().__init__()
        table = torch.zeros(20, width)
        place = torch.arange(20).unsqueeze(1)
        table[:, 0::2] = torch.sin(place / 7)
        table[:, 1::2] = torch.cos(place / 7)
        self.register_buffer("table", table.unsqueeze(0))
        self.fc = nn.Linear(width, 2)

    def forward(self, x):
        if (x > 100).any():
            x = x / 100
        return self.fc(x + self.table[:, : x.size(1)])


@dataclass
class Config:
    width: int = 4
    depth: int = 2
    names: tuple = ("a", "b")


class Configured(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(config.width, config.width) for _ in range(config.depth)])

    def forward(self, x, targets=None):
        for layer in self.layers:
            x = torch.relu(layer(x))
        if targets is None:
            logits = x * 2
            loss = None
        else:
            logits, loss = x * 2, (x - targets).pow(2).mean()
        return logits, loss


class ByValue(nn.Module):
    """Its branches and sizes depend on what is in the tensors."""

    def forward(self, x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = x * 3
        return y * float(x.max())


class Kept(nn.Module):
    """Its results stand in lists and lengths: no name of its is that of a value."""

    def forward(self, x):
        pair = [torch.sin(x), 1]
        count = len(torch.cos(x))
        return pair[0] * count


class NativeShuffle(nn.Module):
    """An operator that the catalogue leaves out."""

    def forward(self, x):
        return torch.native_channel_shuffle(x, 2)
