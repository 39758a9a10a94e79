"""`octavo checkpoint lint`: broken checkpoints, each found or refused with the right words, none
crashing; and whole ones without a complaint."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import checkpoints as cp
from broken import CASES
from checkpoints import UP
from broken.numbers import a_code_is_nan, scale_is_the_default

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
DOCS = pathlib.Path(__file__).parents[2] / "docs"


def lint(path, *arguments):
    return subprocess.run([OCTAVO, "checkpoint", "lint", path, "--json", "--fail-on", "note",
                           *arguments], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("rule, words, arguments, make", CASES)
def test_a_broken_checkpoint_is_found(tmp_path, rule, words, arguments, make):
    folder = tmp_path / make.__name__
    make(folder)
    result = lint(folder, *arguments)
    assert result.returncode in (1, 3), (result.returncode, result.stderr)
    if rule is None:
        assert result.returncode == 3 and result.stderr.startswith("octavo: error: "), result
        assert all(word in result.stderr for word in words), result.stderr
        return
    report = json.loads(result.stdout)
    found = [finding for finding in report["findings"] if finding["rule"] == rule]
    assert found, [finding["rule"] for finding in report["findings"]] or report
    texts = [" ".join(finding[key] for key in ("file", "tensor", "what", "why")) for finding in found]
    assert any(all(word in text for word in words) for text in texts), texts
    for finding in report["findings"]:
        assert finding["why"] and finding["fix"], finding
        assert not pathlib.PurePath(finding["file"]).is_absolute(), finding


def test_there_are_enough_of_them():
    assert len(CASES) >= 80
    names = [parameter.id for parameter in CASES]
    assert len(set(names)) == len(names)


WHOLE = {"plain": cp.plain_checkpoint, "autofp8": cp.autofp8, "deepseek": cp.deepseek,
         "compressed_fp8": cp.compressed_fp8, "compressed_nvfp4": cp.compressed_nvfp4,
         "compressed_mxfp8": cp.compressed_mxfp8, "compressed_blocks": cp.compressed_blocks,
         "modelopt_nvfp4": cp.modelopt_nvfp4}


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("make", WHOLE.values(), ids=WHOLE)
def test_a_whole_checkpoint_is_clean(tmp_path, make, shards):
    checkpoint = make()
    checkpoint.shards = shards
    result = lint(checkpoint.write(tmp_path / "model"), "--ignore", "negative-zero")
    assert result.returncode == 0, result.stdout
    assert json.loads(result.stdout)["findings"] == []


def test_a_torn_file_that_was_named_is_a_finding(tmp_path):
    """As in a folder; what is named otherwise may be anything, and is refused."""
    folder = cp.autofp8().write(tmp_path / "model")
    shard = folder / cp.Checkpoint.shard_name(0, 2)
    whole = shard.read_bytes()
    for name in (shard.name, "weights"):
        (folder / name).write_bytes(whole[:-1])
        result = lint(folder / name)
        if name == "weights":
            assert result.returncode == 3 and "weights" in result.stderr
            continue
        assert result.returncode == 1, result
        (finding,) = json.loads(result.stdout)["findings"]
        assert (finding["rule"], finding["file"]) == ("torn-shard", shard.name)
        assert finding["what"] in [f["what"] for f in json.loads(lint(folder).stdout)["findings"]]


def test_the_exit_code_is_by_severity(tmp_path):
    checkpoint = cp.autofp8()
    checkpoint.tensors[UP + ".weight_scale"] = np.float32(0.0004).reshape(())  # a note
    folder = checkpoint.write(tmp_path / "note")
    run = lambda *a: subprocess.run([OCTAVO, "checkpoint", "lint", folder, "--ignore",  # noqa: E731
                                     "negative-zero", *a], capture_output=True).returncode
    assert [run("--fail-on", level) for level in ("note", "warning", "error", "never")] == [1, 0, 0, 0]
    assert run() == 0
    scale_is_the_default(checkpoint)  # a warning
    checkpoint.write(folder)
    assert [run("--fail-on", level) for level in ("note", "warning", "error", "never")] == [1, 1, 0, 0]
    assert run() == 1
    a_code_is_nan(checkpoint)  # an error
    checkpoint.write(folder)
    assert [run("--fail-on", level) for level in ("note", "warning", "error", "never")] == [1, 1, 1, 0]


def test_rules_can_be_chosen(tmp_path):
    checkpoint = cp.autofp8()
    a_code_is_nan(checkpoint)
    scale_is_the_default(checkpoint)
    folder = checkpoint.write(tmp_path / "model")
    rules = lambda *a: {f["rule"] for f in json.loads(lint(folder, *a).stdout)["findings"]}  # noqa: E731
    assert {"nan-code", "implausible-scale"} <= rules()
    assert rules("--only", "nan-code") == {"nan-code"}
    assert "nan-code" not in rules("--ignore", "nan-code,negative-zero")
    result = lint(folder, "--only", "nan-cod")
    assert result.returncode == 2 and "nan-code" in result.stderr
    result = lint(folder, "--for", "vlm")
    assert result.returncode == 2 and "vllm" in result.stderr


def test_the_page_of_rules_is_current():
    page = subprocess.run([OCTAVO, "checkpoint", "lint", "--rules", "--markdown"],
                          capture_output=True, text=True).stdout
    assert page == (DOCS / "generated/lint-rules.md").read_text(), (
        "docs/generated/lint-rules.md is old: octavo checkpoint lint --rules --markdown > docs/generated/lint-rules.md")


def test_every_rule_is_broken_by_a_case():
    rules = json.loads(subprocess.run([OCTAVO, "checkpoint", "lint", "--rules", "--json"],
                                      capture_output=True, text=True).stdout)
    broken = {parameter.values[0] for parameter in CASES}
    assert broken - {None} <= {rule["rule"] for rule in rules}
    assert {rule["rule"] for rule in rules} - broken == set()
