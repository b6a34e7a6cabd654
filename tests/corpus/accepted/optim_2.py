import torch
from torch.optim import Adam, AdamW, RMSprop
from torch.optim.lr_scheduler import CosineAnnealingLR, ExponentialLR

theta = torch.tensor([3.0, -2.0], requires_grad=True)
phi = theta.detach().clone().requires_grad_(True)
psi = theta.detach().clone().requires_grad_()
adam, adamw, rms = Adam([theta], lr=0.1), AdamW([phi], lr=0.1, weight_decay=0.01), RMSprop([psi], lr=0.01)
scheduler = CosineAnnealingLR(adam, T_max=10)
decay = ExponentialLR(adamw, gamma=0.9)
for step in range(6):
    for opt, p in [(adam, theta), (adamw, phi), (rms, psi)]:
        opt.zero_grad(set_to_none=True)
        f = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
        f.backward()
        torch.nn.utils.clip_grad_norm_([p], max_norm=1.0)
        opt.step()
    scheduler.step(); decay.step()
scheduler.get_last_lr()
