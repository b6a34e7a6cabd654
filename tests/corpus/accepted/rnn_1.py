import torch
import torch.nn as nn

torch.manual_seed(1)
lstm = nn.LSTM(3, 3)  # Input dim is 3, output dim is 3
inputs = torch.randn(5, 1, 3)
h0, c0 = torch.randn(1, 1, 3), torch.randn(1, 1, 3)
hidden = (h0, c0)
for i in inputs:
    # Step through the sequence one element at a time.
    out, hidden = lstm(i.view(1, 1, -1), hidden)

out, (hn, cn) = lstm(inputs, (h0, c0))
print(out.shape)
rnn = nn.RNN(input_size=3, hidden_size=4, num_layers=2, batch_first=True)
gru = nn.GRU(3, 4)
o1, h1 = rnn(torch.randn(2, 5, 3))
o2, h2 = gru(inputs)
cell = nn.GRUCell(3, 4)
h = torch.zeros(1, 4)
outs = []
for t in range(inputs.size(0)):
    h = cell(inputs[t], h)
    outs.append(h)
stacked = torch.stack(outs)
