import torch
import torch.nn as nn

torch.manual_seed(0)
mha = nn.MultiheadAttention(embed_dim=16, num_heads=4, batch_first=True)
x = torch.randn(2, 5, 16)
attn_output, attn_weights = mha(x, x, x)
norm = nn.LayerNorm(16)
x = norm(x + attn_output)
ff = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
x = x + ff(x)
layer = nn.TransformerEncoderLayer(d_model=16, nhead=4, dim_feedforward=32, dropout=0.0, batch_first=True)
encoder = nn.TransformerEncoder(layer, num_layers=2)
encoder.eval()
memory = encoder(x)
memory.mean().backward()
attn_weights.shape, memory.shape
