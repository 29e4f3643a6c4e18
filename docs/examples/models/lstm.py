"""An LSTM of two layers (Hochreiter and Schmidhuber 1997) on rows of positions."""

from torch import nn

from training import features

LAYERS = ["first", "second"]  # what probes read; a head of forces is put on the last


class Model(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.first = nn.LSTM(3, width, batch_first=True)
        self.second = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, 2)

    def forward(self, rows):  # (B, T, 2) -> (B, T, 2)
        return self.head(self.second(self.first(features(rows))[0])[0])
