"""A small GPT-2 of Hugging Face's transformers, in the shape of Orrery's model of preset quick.

Positions enter as inputs_embeds, so that no tokens are needed.
"""

from torch import nn
from transformers import GPT2Config, GPT2Model

from training import features

LAYERS = [f"gpt.h.{i}" for i in range(6)] + ["gpt.ln_f"]


class Model(nn.Module):
    def __init__(self, width=64, layers=6, heads=4):
        super().__init__()
        self.config = GPT2Config(vocab_size=1, n_positions=128, n_embd=width, n_layer=layers,
                                 n_head=heads, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
                                 use_cache=False, bos_token_id=None, eos_token_id=None)
        self.embed = nn.Linear(3, width)
        self.gpt = GPT2Model(self.config)
        self.head = nn.Linear(width, 2)

    def reset_parameters(self):
        self.gpt.load_state_dict(GPT2Model(self.config).state_dict())
        self.embed.reset_parameters()
        self.head.reset_parameters()

    def forward(self, rows):  # (B, T, 2) -> (B, T, 2)
        return self.head(self.gpt(inputs_embeds=self.embed(features(rows))).last_hidden_state)
