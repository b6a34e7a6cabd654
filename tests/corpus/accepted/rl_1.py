import torch
import torch.nn.functional as F
torch.manual_seed(2)
# REINFORCE on a bandit
logits = torch.zeros(3, requires_grad=True)
payoff = torch.tensor([0.1, 0.5, 0.9])
optimizer = torch.optim.SGD([logits], lr=0.5)
R, gamma = 0, 0.9
returns = []
for r in [1.0, 0.0, 2.0][::-1]:
    R = r + gamma * R
    returns.insert(0, R)
