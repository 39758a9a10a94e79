"""How a broken checkpoint is described: a name, a rule, words of the finding, and a function that makes
it in a folder. A rule of None: the checkpoint is refused (exit 3), and the words are in the error."""
import functools

import pytest

import checkpoints as cp

CASES = []


def case(rule, *words, arguments=()):
    def add(make):
        CASES.append(pytest.param(rule, words, arguments, make, id=make.__name__))
        return make
    return add


def breaks(base, rule, *words, arguments=()):
    """A case that changes a checkpoint before it is written."""
    def add(change):
        @case(rule, *words, arguments=arguments)
        @functools.wraps(change)
        def make(folder):
            checkpoint = base()
            change(checkpoint)
            checkpoint.write(folder)
        return change
    return add


def damages(rule, *words):
    """A case that writes the second shard of a checkpoint anew, as bytes."""
    def add(damage):
        @case(rule, *words)
        @functools.wraps(damage)
        def make(folder):
            cp.autofp8().write(folder)
            shard = folder / cp.Checkpoint.shard_name(1, 2)
            damage(shard, *cp.header_of(cp.read_safetensors(shard)))
        return damage
    return add

