# Numerically stable softmax
import torch

logits = torch.tensor([[1000., 1001., 1002.], [1., 2., 3.]])
logits -= logits.max(1, keepdim=True).values
counts = logits.exp(); probs = counts / counts.sum(1, keepdims=True)
probs
logsumexp = torch.logsumexp(logits, dim=1)
temperature = 0.7
p2 = torch.softmax(logits / temperature, dim=-1)
ent = -(p2 * p2.log()).sum(-1)
topv, topi = p2.topk(2)
cum = p2.cumsum(-1)
