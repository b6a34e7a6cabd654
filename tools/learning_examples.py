"""Nine examples of how a network learns, each to be predicted before it is run; they are written as Python is read.

`tools.make_examples` writes them with the others.
"""

from gradstudio.graph.model import Graph
from gradstudio.program.reading.reader import read_script

RHYME = (
    "the sea is wide the sea is blue the wind is cold the wind is new "
    "the moon is round the moon is white it follows me along the night "
)
"""Our own."""
TEXTS = {
    "16_learning_rate": """
# How far to step: w looks for the bottom of (w - 1)², twenty times.
# Predict what a larger learning rate does, then run it and compare the curves of the loss.
w = torch.tensor(4.0, requires_grad=True)
lr = 0.01
for turn in range(20):
    loss = (w - 1) ** 2
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
    w.grad = None
""",
    "17_momentum_and_adam": """
# A long valley: a hundred times steeper across than along. One rate for both is too small for one.
# Momentum keeps what was gathered; Adam gives each number a step of its own. Change the optimizer.
w = torch.tensor([4.0, 1.0], requires_grad=True)
slope = torch.tensor([0.1, 10.0])
optimizer = optim.SGD([w], lr=0.05)
for turn in range(40):
    optimizer.zero_grad()
    loss = (slope * w**2).sum()
    loss.backward()
    optimizer.step()
""",
    "18_why_normalise": """
# Two inputs, one a hundred times larger than the other: the rate that suits one blows up the other.
# Give both the mean 0 and the deviation 1 (the line `inputs = x`), and the same rate works.
x = torch.tensor([[1.0, 100.0], [2.0, 300.0], [3.0, 200.0], [4.0, 400.0]])
y = torch.tensor([[10.0], [25.0], [22.0], [40.0]])
inputs = x * 1
w = torch.zeros(2, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for turn in range(50):
    loss = F.mse_loss(inputs @ w + b, y)
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    w.grad = None
    b.grad = None
""",
    "19_dead_unit": """
# A relu that starts below 0 for every row: its slope is 0 there, so nothing ever reaches w and b.
# Predict whether a hundred turns wake it.
x = torch.tensor([[1.0], [2.0], [3.0]])
y = torch.tensor([[2.0], [4.0], [6.0]])
w = torch.tensor([[1.0]], requires_grad=True)
b = torch.tensor(-10.0, requires_grad=True)
for turn in range(100):
    prediction = torch.relu(x @ w + b)
    loss = F.mse_loss(prediction, y)
    loss.backward()
    with torch.no_grad():
        w -= 0.05 * w.grad
        b -= 0.05 * b.grad
    w.grad = None
    b.grad = None
""",
    "20_residual": """
# Thirty layers, one after another: what is left of the gradient at x?
# Add h itself to what each layer gives, and the gradient has a way that nothing shrinks.
torch.manual_seed(0)
x = torch.randn(4, 8, requires_grad=True)
W = (torch.randn(8, 8) * 0.2).requires_grad_()
h = x.clone()
for _ in range(30):
    h = torch.tanh(h @ W)
loss = h.pow(2).mean()
loss.backward()
""",
    "21_batch_and_noise": """
# The gradient of a batch is a guess at that of all the data: its mean is right, its noise is the batch's.
# Predict how much less noise sixteen times as many rows give.
torch.manual_seed(0)
data = torch.randn(1024)
w = torch.tensor(2.0, requires_grad=True)
size = 4
gradients = []
for turn in range(200):
    batch = data[torch.randint(0, 1024, (size,))]
    loss = ((w - batch) ** 2).mean()
    loss.backward()
    gradients.append(w.grad)
    w.grad = None
noise = torch.stack(gradients).std()
""",
    "22_overfitting": """
# Eight noisy points and four thousand weights: the loss falls to 0, because the noise is learnt by heart.
# held_out asks for points between them, without noise. Predict what dropout does to both.
torch.manual_seed(0)
x = torch.linspace(-1, 1, 8).unsqueeze(1)
y = torch.sin(3 * x) + 0.3 * torch.randn(8, 1)
x_between = torch.linspace(-0.95, 0.95, 40).unsqueeze(1)
net = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Dropout(0.0), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = optim.Adam(net.parameters(), lr=0.01)
for turn in range(300):
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    held_out = F.mse_loss(net(x_between), torch.sin(3 * x_between))
""",
    "23_descent_in_a_bowl": """
# A bowl that is longer one way than the other: its bottom is at w = (1, -1).
# The card of w shows the loss from above, and the path of w on it. Predict where the first step goes.
w = torch.tensor([-3.0, 1.0], requires_grad=True)
lr = 0.1
for turn in range(20):
    loss = (w[0] - 1) ** 2 + 3 * (w[1] + 1) ** 2
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
    w.grad = None
""",
    "24_writing_letters": """
# A small network reads some letters of a text and says which one follows. That it reads next: it writes.
# It sees as many letters as `seen` says. Predict what it writes untrained, and what when it sees fewer.
torch.manual_seed(0)
text = "RHYME"
letters = " abcdefghijklmnopqrstuvwxyz"
seen = 16
turns = 1
numbers = []
for letter in text:
    numbers.append(ord(letter) % 32)
windows = torch.tensor(numbers).unfold(0, seen + 1, 1)
x = windows[:, :-1]
y = windows[:, -1]
net = nn.Sequential(nn.Embedding(27, 8), nn.Flatten(), nn.Linear(seen * 8, 64), nn.ReLU(), nn.Linear(64, 27))
optimizer = optim.Adam(net.parameters(), lr=0.01)
for turn in range(turns):
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
window = x[:1]
written = text[:seen]
for _ in range(60):
    scores = net(window)
    follows = scores.argmax(dim=1)
    written += letters[follows]
    window = torch.cat((window[:, 1:], follows.unsqueeze(1)), dim=1)
print(written)
""",
}
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, optim\n\n"


def read(name: str) -> tuple[Graph, str]:
    """The example's graph, without places; and the comment above it."""
    lines = TEXTS[name].replace("RHYME", RHYME).strip().split("\n")
    note = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    return read_script(HEAD + "\n".join(lines[len(note) :])).graph, "\n".join(note)
