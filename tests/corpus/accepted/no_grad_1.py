import torch

w = torch.tensor([1.0, -1.0], requires_grad=True)
x = torch.tensor([0.5, 2.0])
lr = 1e-1

loss = ((w * x).sum() - 1) ** 2
loss.backward()
with torch.no_grad():
    w -= lr * w.grad
    w.grad = None
    with torch.enable_grad():
        again = (w * x).sum()
with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
    low = torch.ones(2, 2) @ torch.ones(2, 2)
with torch.inference_mode():
    frozen = w * 3
again.requires_grad, low.dtype
