import torch
from torch import nn

eval_iters = 3
torch.manual_seed(0)
model = nn.Linear(2, 1)


def get_batch(split):
    x = torch.randn(4, 2) + (1 if split == "val" else 0)
    return x, x.sum(1, keepdim=True)


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            X, Y = get_batch(split)
            losses[k] = ((model(X) - Y) ** 2).mean().item()
        out[split] = losses.mean()
    model.train()
    return out


losses = estimate_loss()
mode = model.training
print(f"train {losses['train']:.4f}, val {losses['val']:.4f}")
