"""Two PyTorch models: BERT of transformers with MiniLM's weights, and a residual CNN as torchvision
writes them, with weights drawn from a seed."""

import numpy as np
import torch
import transformers
from torch import nn


class SentenceEncoder(nn.Module):
    """MiniLM: BERT's last hidden states, averaged over the tokens that the mask keeps."""

    def __init__(self, folder):
        super().__init__()
        self.bert = transformers.BertModel.from_pretrained(folder, attn_implementation="eager")
        # torch_mlir looks every buffer up in the state dictionary.
        for module in self.modules():
            module._non_persistent_buffers_set.clear()

    def forward(self, input_ids, attention_mask):
        hidden = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        kept = attention_mask[:, :, None].to(hidden.dtype)
        return (hidden * kept).sum(1) / kept.sum(1)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))  # fmt: skip
        self.shortcut = nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))  # fmt: skip

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


class ResidualNet(nn.Module):
    """A stem, three residual stages and a classifier of two layers."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16),
                                  nn.ReLU(), nn.MaxPool2d(3, 2, 1))  # fmt: skip
        self.stages = nn.Sequential(Residual(16, 32, 1), Residual(32, 64, 2), Residual(64, 128, 2))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Linear(128, 256), nn.Hardswish(), nn.Linear(256, 64))

    def forward(self, image):
        features = torch.flatten(self.pool(self.stages(self.stem(image))), 1)
        return self.classifier(features)


def residual_net():
    """The CNN with the statistics of its batch norms taken from a few random images."""
    torch.manual_seed(0)
    model = ResidualNet().train()
    with torch.no_grad():
        for _ in range(4):
            model(torch.randn(8, 3, 48, 48))
    return model.eval()


def sample_images(count=8):
    return torch.from_numpy(np.random.default_rng(1).normal(size=(count, 3, 48, 48)).astype("f4"))
