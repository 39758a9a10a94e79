"""`octavo checkpoint layouts`: docs/generated/layouts.md against the tables, and the tables' shape."""
import json
import os
import pathlib
import subprocess

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
PAGE = pathlib.Path(__file__).parents[2] / "docs/generated/layouts.md"


def layouts(*arguments):
    return subprocess.run([OCTAVO, "checkpoint", "layouts", *arguments], capture_output=True,
                          text=True, check=True).stdout


def test_the_page_is_current():
    assert layouts("--markdown") == PAGE.read_text(), (
        "docs/generated/layouts.md is old; write it anew: octavo checkpoint layouts --markdown "
        "> docs/generated/layouts.md")


def test_every_layout_is_listed_in_each_form():
    rows = json.loads(layouts("--json"))["layouts"]
    names = [row["name"] for row in rows]
    assert {"compressed-tensors", "modelopt", "quark", "deepseek", "gpt-oss", "fp8", "native",
            "comfyui", "mlx", "torchao", "plain"} == set(names)
    for name in names:
        assert f"\n{name}: " in layouts()
    dividing = {(row["name"], part) for row in rows for spelling in row["spellings"]
                for part in ("scales", "outer_scale", "input_scale")
                if spelling[part] and spelling[part]["meaning"] == "divides"}
    # The only divisors in use are compressed-tensors' global scales.
    assert dividing == {("compressed-tensors", "outer_scale"), ("compressed-tensors", "input_scale")}
