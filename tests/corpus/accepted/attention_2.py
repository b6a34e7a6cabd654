import math
import torch
import torch.nn.functional as F

torch.manual_seed(0)
batch, heads, seq, dim = 2, 4, 5, 8
q, k, v = torch.randn(3, batch, heads, seq, dim)
scores = q @ k.transpose(-2, -1) / math.sqrt(dim)
causal = torch.triu(torch.ones(seq, seq, dtype=torch.bool), diagonal=1)
scores = scores.masked_fill(causal, float("-inf"))
weights = scores.softmax(dim=-1)
mine = weights @ v
theirs = F.scaled_dot_product_attention(q, k, v, is_causal=True)
print(torch.allclose(mine, theirs, atol=1e-5))
merged = mine.transpose(1, 2).contiguous().view(batch, seq, heads * dim)
qkv = torch.randn(batch, seq, 3 * heads * dim)
Q, K, V = qkv.chunk(3, dim=-1)
Q = Q.view(batch, seq, heads, dim).transpose(1, 2)
