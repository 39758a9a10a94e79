"""Commands that are stopped by a loss of power: what is on the disk is what was there before, or the
result, or what the same command completes. Every sync is needed for that."""
import json
import os
import shutil
import subprocess

import numpy as np
import pytest

import checkpoints as cp
import disk
from commands import OCTAVO

SHIM = OCTAVO.parent / "octavo-file-operations.so"


def run(arguments, **environment):
    result = subprocess.run([OCTAVO, "checkpoint", *map(str, arguments)], capture_output=True, text=True,
                            timeout=120, env=os.environ | environment)
    return result.returncode, result.stdout, result.stderr


class Quantization:
    """A job: shards that are made, one that is copied, other files, index and configuration, in a folder
    two levels below one that is there."""

    def __init__(self, tmp_path):
        self.source = cp.plain_checkpoint(layers=1).write(tmp_path / "in")
        cp.write_safetensors(self.source / "model-00003-of-00003.safetensors", {"model.rotary": np.ones(64, np.float32)})
        for i in (1, 2):
            (self.source / f"model-{i:05}-of-00002.safetensors").rename(self.source / f"model-{i:05}-of-00003.safetensors")
        index = json.loads((self.source / "model.safetensors.index.json").read_text())
        index["weight_map"] = {name: place.replace("00002.", "00003.") for name, place in index["weight_map"].items()}
        index["weight_map"]["model.rotary"] = "model-00003-of-00003.safetensors"
        del index["metadata"]
        (self.source / "model.safetensors.index.json").write_text(json.dumps(index))
        (self.source / "tokenizer.json").write_text("{}")
        (self.source / "assets").mkdir()
        (self.source / "assets/logo.svg").write_text("<svg/>")
        self.start = {}

    def arguments(self, root):
        return ["quantize", self.source, "-o", root / "a/out", "--layout", "compressed-tensors", "--format",
                "fp8_row", "--json"]

    @staticmethod
    def said(stdout):
        """What each weight lost, also those of shards that were there."""
        return json.loads(stdout)["losses"]


class ScalesIntoCheckpoint:
    """Scales put into two shards: new ones, and one that takes the place of an old one that is removed."""

    def __init__(self, tmp_path):
        checkpoint = cp.autofp8(kv=False)
        checkpoint.tensors[cp.KV0 + "kv_scale"] = np.float32(0.04).reshape(())
        folder = checkpoint.write(tmp_path / "checkpoint")
        self.start = disk.read_tree(folder)
        self.scales = tmp_path / "scales.safetensors"
        cp.write_safetensors(self.scales, {module + name: np.float32(0.02 + i / 100).reshape(())
                                           for module in (cp.KV0, cp.KV1)
                                           for i, name in enumerate(("k_scale", "v_scale"))})

    def arguments(self, root):
        return ["scales", "apply", root, "--scales", self.scales, "--into-checkpoint", "--json"]

    @staticmethod
    def said(stdout):
        return None


class ReportPage:
    """One file, in the place of another."""

    def __init__(self, tmp_path):
        self.source = cp.autofp8().write(tmp_path / "in")
        subprocess.run([OCTAVO, "checkpoint", "report", self.source, "-o", tmp_path / "old.html"], check=True,
                       capture_output=True)
        page = (tmp_path / "old.html").read_bytes()
        self.start = {"page.html": page.replace(b"</html>", b"<!-- old --></html>")}

    def arguments(self, root):
        return ["report", self.source, "-o", root / "page.html"]

    @staticmethod
    def said(stdout):
        return None


@pytest.fixture(params=[Quantization, ScalesIntoCheckpoint, ReportPage], ids=lambda case: case.__name__)
def traced(request, tmp_path):
    case = request.param(tmp_path)
    root, trace = tmp_path / "root", tmp_path / "trace"
    disk.write_tree(root, case.start)
    trace.mkdir()
    code, stdout, stderr = run(case.arguments(root), LD_PRELOAD=str(SHIM), OCTAVO_TRACE=str(trace),
                               OCTAVO_ROOT=str(root))
    assert code == 0, stderr
    operations = disk.read_trace(trace)
    return Traced(case, operations, disk.read_tree(root), case.said(stdout), tmp_path / "again")


class Traced:
    def __init__(self, case, operations, end, said, place):
        self.case, self.operations, self.end, self.said, self.place = case, operations, end, said, place
        self.verdicts = {}

    def fault(self, tree):
        """What is wrong with a tree that was found after a loss of power."""
        tree = {path: content for path, content in tree.items() if not disk.TEMPORARY.fullmatch(path)}
        if tree in (self.case.start, self.end):
            return None
        key = tuple(sorted(tree.items()))
        if key not in self.verdicts:
            self.verdicts[key] = self.fault_of_rerun(tree)
        return self.verdicts[key]

    def fault_of_rerun(self, tree):
        shutil.rmtree(self.place, ignore_errors=True)
        disk.write_tree(self.place, tree)
        code, stdout, stderr = run(self.case.arguments(self.place))
        if code != 0:
            return f"the same command says {stderr}"
        if disk.read_tree(self.place) != self.end:
            return "the same command gives something else"
        if self.case.said(stdout) != self.said:
            return "the same command says something else"
        return None

    def faults(self, dropped=()):
        for n, tree in disk.trees_after(self.case.start, self.operations, dropped):
            if fault := self.fault(tree):
                yield f"after {n} operations, with {sorted(tree)}: {fault}"
            if n == len(self.operations) and {path for path in tree if not disk.TEMPORARY.fullmatch(path)} != set(self.end):
                yield f"the command has ended, and of its names there are only {sorted(tree)}"
            elif n == len(self.operations) and tree != self.end:
                yield "the command has ended, and its files have lost bytes"


def test_the_trace_is_all_that_happens(traced):
    tree = traced.case.start
    for operation in traced.operations:
        if operation.kind in ("rename", "remove", "mkdir"):
            tree = disk.apply(tree, operation, operation.content)
    assert {path: content for path, content in tree.items() if not disk.TEMPORARY.fullmatch(path)} == traced.end
    assert traced.end != traced.case.start


def test_a_loss_of_power_leaves_the_old_the_new_or_what_the_same_command_completes(traced):
    assert next(traced.faults(), None) is None


def test_every_sync_is_needed(traced):
    syncs = [n for n, operation in enumerate(traced.operations) if operation.kind.startswith("sync")]
    assert syncs
    needless = [f"{n}: {traced.operations[n].kind} {traced.operations[n].path}" for n in syncs
                if next(traced.faults(dropped={n}), None) is None]
    assert not needless, needless
