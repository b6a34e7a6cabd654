import torch


def norm_or_zero(x, normalize=True):
    if not normalize:
        return x
    if x.dim() == 1:
        x = x.unsqueeze(0)
    return x / x.norm(dim=-1, keepdim=True)


torch.manual_seed(0)
a = norm_or_zero(torch.randn(3))
b = norm_or_zero(torch.randn(2, 3), normalize=False)
