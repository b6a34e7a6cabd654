import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1337)
# hyperparameters
batch_size = 2; block_size = 4; n_embd = 8; n_head = 2; vocab_size = 11
dropout = 0.0
# data
data = torch.randint(vocab_size, (64,))
n = int(0.9*len(data)) # first 90% will be train, rest val
train_data, val_data = data[:n], data[n:]
ix = torch.randint(len(train_data) - block_size, (batch_size,))
xs, ys = [], []
for i in ix:
    xs.append(train_data[i:i+block_size])
    ys.append(train_data[i+1:i+block_size+1])
xb, yb = torch.stack(xs), torch.stack(ys)
# model
tok = nn.Embedding(vocab_size, n_embd)
pos = nn.Embedding(block_size, n_embd)
ln1, ln2, ln_f = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
c_attn = nn.Linear(n_embd, 3 * n_embd)
c_proj = nn.Linear(n_embd, n_embd)
mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd), nn.Dropout(dropout))
lm_head = nn.Linear(n_embd, vocab_size, bias=False)
tok.weight = lm_head.weight # weight tying
# forward
B, T = xb.shape
x = tok(xb) + pos(torch.arange(T))
h = ln1(x)
q, k, v = c_attn(h).split(n_embd, dim=2)
k = k.view(B, T, n_head, n_embd // n_head).transpose(1, 2) # (B, nh, T, hs)
q = q.view(B, T, n_head, n_embd // n_head).transpose(1, 2)
v = v.view(B, T, n_head, n_embd // n_head).transpose(1, 2)
att = (q @ k.transpose(-2, -1)) * (1.0 / k.size(-1) ** 0.5)
mask = torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size)
att = att.masked_fill(mask[:,:,:T,:T] == 0, float('-inf'))
att = F.softmax(att, dim=-1)
y = (att @ v).transpose(1, 2).contiguous().view(B, T, n_embd)
x = x + c_proj(y)
x = x + mlp(ln2(x))
logits = lm_head(ln_f(x))
loss = F.cross_entropy(logits.view(-1, logits.size(-1)), yb.view(-1))
optimizer = torch.optim.AdamW([lm_head.weight, c_attn.weight], lr=1e-3)
optimizer.zero_grad(set_to_none=True)
loss.backward()
optimizer.step()
# generate
idx = torch.zeros((1, 1), dtype=torch.long)
for _ in range(3):
    emb = tok(idx[:, -1:]) 
    probs = F.softmax(lm_head(emb)[:, -1, :], dim=-1)
    idx_next = torch.argmax(probs, dim=-1, keepdim=True)
    idx = torch.cat((idx, idx_next), dim=1)
print(idx[0].tolist(), f"{loss.item():.4f}")
