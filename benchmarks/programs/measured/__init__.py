"""The programs: build(NAME) gives one."""
import importlib

MODULES = {"minilm": "minilm", "mlp": "mlp", "cnn": "cnn", "lstm": "lstm", "decode": "decode", "softmax": "alone",
           "layer": "alone", "gelu": "alone", "x": "alone"}


def build(name):
    return importlib.import_module(f"measured.{MODULES[name.split('-')[0]]}").build(name)
