import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(1)
EMBEDDING_DIM = 6
HIDDEN_DIM = 6
tag_to_ix = {"DET": 0, "NN": 1, "V": 2}
word_to_ix = {"The": 0, "dog": 1, "ate": 2}


class LSTMTagger(nn.Module):

    def __init__(self, embedding_dim, hidden_dim, vocab_size, tagset_size):
        super(LSTMTagger, self).__init__()
        self.hidden_dim = hidden_dim
        self.word_embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim)
        self.hidden2tag = nn.Linear(hidden_dim, tagset_size)

    def forward(self, sentence):
        embeds = self.word_embeddings(sentence)
        lstm_out, _ = self.lstm(embeds.view(len(sentence), 1, -1))
        tag_space = self.hidden2tag(lstm_out.view(len(sentence), -1))
        tag_scores = F.log_softmax(tag_space, dim=1)
        return tag_scores


model = LSTMTagger(EMBEDDING_DIM, HIDDEN_DIM, len(word_to_ix), len(tag_to_ix))
loss_function = nn.NLLLoss()
optimizer = optim.SGD(model.parameters(), lr=0.1)
inputs = torch.tensor([word_to_ix["The"], word_to_ix["dog"], word_to_ix["ate"]])
targets = torch.tensor([0, 1, 2])
for epoch in range(3):
    model.zero_grad()
    tag_scores = model(inputs)
    loss = loss_function(tag_scores, targets)
    loss.backward()
    optimizer.step()
print(tag_scores)
