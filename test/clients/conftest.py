"""The samples that the tests of presets share lie with the other tests."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "python"))
