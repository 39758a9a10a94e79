"""The examples in README.md, docs/python.md and docstrings give what they say; those in docs/jax.md run."""
import doctest
import functools
import importlib.util
import pathlib

import jax
import numpy as np
import octavo.checkpoint
import octavo.jax
import octavo.training
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"


@pytest.mark.parametrize("page, examples", [(ROOT / "README.md", 4), (DOCS / "python.md", 60)],
                         ids=["README.md", "python.md"])
def test_examples_on_the_page(page, examples):
    tests = doctest.DocTestParser().get_doctest(
        page.read_text().replace("```", ""), {}, page.name, str(page), 0)
    assert len(tests.examples) >= examples
    runner = doctest.DocTestRunner()
    report = []
    runner.run(tests, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@pytest.mark.parametrize("module", [octavo.checkpoint, octavo.jax, octavo.training], ids=lambda module: module.__name__)
def test_examples_in_docstrings(module):
    failed, tried = doctest.testmod(module)
    assert tried > 3 and failed == 0


def test_the_first_example_of_jax():
    code = (DOCS / "jax.md").read_text().split("```python\n")[1].split("```")[0]
    names = {}
    exec(compile(code, "docs/jax.md", "exec"), names)  # the page is ours
    exact = names["x"] @ names["w"]
    assert names["y"].shape == exact.shape
    error = np.linalg.norm(names["y"] - exact) / np.linalg.norm(exact)
    assert error < 0.15, error  # about a tenth, which is what e2m1fn loses of normal values


def test_the_training_step_of_jax():
    code = (DOCS / "jax.md").read_text().split("```python\nimport octavo.training")[1].split("```")[0]
    names = {"jax": jax}
    exec(compile("import octavo.training" + code, "docs/jax.md", "exec"), names)
    x, w = jax.random.normal(jax.random.key(0), (64, 32)), jax.random.normal(jax.random.key(1), (32, 8))
    scales, found, losses = names["scales"], jax.numpy.zeros((32, 8)), []
    for _ in range(100):
        losses.append(names["loss"](found, scales, x, x @ w))
        found, scales = names["step"](found, scales, x, x @ w)
    assert losses[-1] < losses[0] / 10, losses


@functools.cache
def example():
    spec = importlib.util.spec_from_file_location("train", ROOT / "examples/mxfp8_training/train.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def losses(recipe):
    return example().train(example().RECIPES[recipe], 25)


def test_the_training_table_of_jax():
    """Its three decimals, which hold on every instruction set, for the first quarter of the steps."""
    table = (DOCS / "jax.md").read_text().split("train.py --steps 60\n")[1].split("\n```")[0].splitlines()
    assert table[0].split()[-8:] == "step 3 step 15 step 30 step 60".split()
    assert [row[:24].strip() for row in table[1:]] == list(example().RECIPES)
    for row in table[1:]:
        found = losses(row[:24].strip())
        assert [f"{found[i]:.3f}" for i in (2, 14)] == row[24:].split()[:2], row


def test_training_in_mxfp8_follows_training_in_f32():
    plain, narrow = losses("f32"), losses("mxfp8_e4m3")
    assert narrow[-1] < 0.75 * narrow[0]
    np.testing.assert_allclose(narrow, plain, rtol=0.05)
    assert narrow != plain
