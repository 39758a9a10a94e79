"""How a broken checkpoint is described: a name, a rule, words of the finding, and a function that makes
it in a folder. A rule of None: the checkpoint is refused (exit 3), and the words are in the error."""
import pytest

import checkpoints as cp

L0, L1 = "model.layers.0.", "model.layers.1."
UP, DOWN = L0 + "mlp.up_proj", L0 + "mlp.down_proj"
KV0 = L0 + "self_attn."

CASES = []


def case(rule, *words, arguments=()):
    def add(make):
        CASES.append(pytest.param(rule, words, arguments, make, id=make.__name__))
        return make
    return add


def breaks(base, rule, *words, arguments=()):
    """A case that changes a checkpoint before it is written."""
    def add(change):
        def make(folder):
            checkpoint = base()
            change(checkpoint)
            checkpoint.write(folder)
        make.__name__ = change.__name__
        CASES.append(pytest.param(rule, words, arguments, make, id=change.__name__))
        return change
    return add


def damages(rule, *words):
    """A case that writes the second shard of a checkpoint anew, as bytes."""
    def add(damage):
        def make(folder):
            cp.autofp8().write(folder)
            shard = folder / cp.Checkpoint.shard_name(1, 2)
            damage(shard, *cp.header_of(cp.read_safetensors(shard)))
        make.__name__ = damage.__name__
        CASES.append(pytest.param(rule, words, (), make, id=damage.__name__))
        return damage
    return add

