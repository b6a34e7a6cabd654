import torch
from torch import nn

torch.manual_seed(1)


class NeuralNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.linear_relu_stack = nn.Sequential(
            nn.Linear(28 * 28, 32),
            nn.ReLU(),
            nn.Linear(32, 10),
        )

    def forward(self, x):
        x = self.flatten(x)
        return self.linear_relu_stack(x)


def attention(q, k, v, scale=1.0):
    """Scaled dot products."""
    scores = q @ k.transpose(-2, -1) * scale
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


model = NeuralNetwork()
X = torch.rand(3, 28, 28)
logits = model(X)
pred_probab = nn.Softmax(dim=1)(logits)
y_pred = pred_probab.argmax(1)
print(f"Predicted class: {y_pred}")
mixed, weights = attention(logits, logits, v=logits, scale=0.5)
mixed.sum().backward()
for name, param in model.named_parameters():
    print(name, param.size())
