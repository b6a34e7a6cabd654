import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
logits = torch.randn(4, 3, requires_grad=True)
target = torch.tensor([0, 2, 1, 0])
ce = nn.CrossEntropyLoss()
a = ce(logits, target)
b = F.nll_loss(F.log_softmax(logits, -1), target)
c = -logits.log_softmax(dim=1)[range(4), target].mean()
probs = logits.exp() / logits.exp().sum(dim=1, keepdim=True)
d = -probs[torch.arange(4), target].log().mean()
onehot = F.one_hot(target, num_classes=3).float()
e = F.mse_loss(probs, onehot); f = F.l1_loss(probs, onehot)
g = nn.HuberLoss(delta=1.0)(probs, onehot)
h = nn.KLDivLoss(reduction='batchmean')(probs.log(), onehot)
i = F.smooth_l1_loss(input=logits, target=onehot, beta=0.5)
(a + b + c + d + e + f + g + h + i).backward()
acc = (logits.argmax(1) == target).type(torch.float).mean().item()
