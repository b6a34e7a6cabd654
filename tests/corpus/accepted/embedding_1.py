import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
embeds = nn.Embedding(10, 4)
lookup = torch.tensor([3, 1, 4], dtype=torch.long)
e = embeds(lookup)
linear = nn.Linear(3 * 4, 10)
log_probs = F.log_softmax(linear(e.view((1, -1))), dim=1)
loss = nn.NLLLoss()(log_probs, torch.tensor([2]))
loss.backward()
embeds.weight.grad[3]
sim = F.cosine_similarity(e[0], e[1], dim=0)
bag = nn.EmbeddingBag(10, 3, mode='sum')
bag(torch.tensor([1, 2, 4, 5, 4, 3, 2, 9]), torch.tensor([0, 4]))
pad = nn.Embedding(5, 2, padding_idx=0)
pad.weight[0]
