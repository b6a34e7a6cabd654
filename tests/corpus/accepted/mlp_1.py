import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(42)
X = torch.tensor([[0., 0.], [0., 1.], [1., 0.], [1., 1.]])
y = torch.tensor([[0.], [1.], [1.], [0.]])

model = nn.Sequential(
    nn.Linear(2, 8),
    nn.Tanh(),
    nn.Linear(8, 1),
    nn.Sigmoid(),
)
criterion = nn.BCELoss()
optimizer = optim.Adam(model.parameters(), lr=0.05)

for epoch in range(30):
    optimizer.zero_grad()
    outputs = model(X)
    loss = criterion(outputs, y)
    loss.backward()
    optimizer.step()
    if (epoch + 1) % 10 == 0:
        print(f'Epoch [{epoch+1}/30], Loss: {loss.item():.4f}')

with torch.no_grad():
    predicted = (model(X) > 0.5).float()
    accuracy = (predicted == y).float().mean()
    print(f"accuracy: {accuracy.item():.2f}")
