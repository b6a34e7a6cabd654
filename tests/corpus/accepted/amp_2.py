import torch

use_amp = True
x = torch.ones(3, 3)
with torch.autocast("cpu", dtype=torch.bfloat16, enabled=use_amp):
    y = x @ x
with torch.autocast(device_type="cpu", enabled=False):
    z = x @ x
scaler = torch.amp.GradScaler("cpu", enabled=use_amp)
print(y.dtype, z.dtype)
