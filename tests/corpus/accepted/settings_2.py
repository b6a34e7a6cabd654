import numpy as np
import torch

torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = False
np.set_printoptions(precision=3)
w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for step in range(3):
    optimizer.zero_grad()
    loss = (w * w).sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
scale = scaler.get_scale()
a = np.ones(3)
np.add(a, 1, a)
eps = np.finfo(np.float32).eps
most = np.iinfo(np.int32).max
bits = (10).bit_length()
