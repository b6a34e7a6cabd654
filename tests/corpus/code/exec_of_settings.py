from contextlib import nullcontext
import torch
import torch.nn as nn
import torch.nn.functional as F

# config
batch_size = 4
block_size = 8
n_embd = 6
lr = 1e-2
device = 'cpu'
seed = 1337
compile = False
config_keys = [k for k, v in globals().items() if not k.startswith('_') and isinstance(v, (int, float, bool, str))]
exec("lr = lr * 2\nextra = 3")
config = {k: globals()[k] for k in config_keys}
torch.manual_seed(seed)
device_type = 'cuda' if 'cuda' in device else 'cpu'
ctx = nullcontext() if device_type == 'cpu' else torch.amp.autocast(device_type=device_type, dtype=torch.bfloat16)
data = torch.randint(0, 10, (100,))

def get_batch(split):
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([data[i:i + block_size] for i in ix])
    y = torch.stack([data[i + 1:i + 1 + block_size] for i in ix])
    if device_type == 'cuda':
        x, y = x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)
    else:
        x, y = x.to(device), y.to(device)
    return x, y

class Bigram(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, n_embd)
        self.head = nn.Linear(n_embd, 10)
    def forward(self, idx, targets=None):
        logits = self.head(self.table(idx))
        loss = None if targets is None else F.cross_entropy(logits.view(-1, 10), targets.view(-1))
        return logits, loss

model = Bigram()
model.to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=lr)

@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ['train', 'val']:
        losses = torch.zeros(3)
        for k in range(3):
            X, Y = get_batch(split)
            with ctx:
                logits, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out

iter_num = 0
X, Y = get_batch('train')
while True:
    for param_group in optimizer.param_groups:
        param_group['lr'] = lr * 0.9 ** iter_num
    if iter_num % 3 == 0:
        losses = estimate_loss()
        print(f"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
    with ctx:
        logits, loss = model(X, Y)
    X, Y = get_batch('train')
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    iter_num += 1
    if iter_num > 5:
        break
print(config, extra)
