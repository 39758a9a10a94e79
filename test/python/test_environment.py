"""docs/environment.md against the variables that the sources read."""
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "docs/environment.md").read_text()


def listed(heading):
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    first = "\n".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
    return set(re.findall(r"`([A-Z_0-9]+)`", first))


def sources(*folders):
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".cpp", ".h", ".py", ".c") and path.is_file():
                yield path, path.read_text()


def read_by(files):
    """Of C++ what getenv is given; of Python what os.environ is asked for."""
    found = set()
    for path, text in files:
        pattern = (r'environ(?:\.get\(|\.pop\(|\[)\s*"(\w+)"' if path.suffix == ".py" else r'getenv\(\s*"(\w+)"')
        found |= set(re.findall(pattern, text))
        if "temp_directory_path" in text:
            found.add("TMPDIR")
    return found


def is_test(path):
    return path.stem.endswith(("Test", "Fuzz")) or "emulated" in path.parts or path.stem == "LayoutFixture"


def test_what_octavo_reads():
    files = [(path, text) for path, text in sources("octavo", "tools", "python") if not is_test(path)]
    assert len(files) > 500
    assert read_by(files) == listed("When octavo runs")


def test_what_tests_read():
    files = [(path, text) for path, text in sources("octavo", "test") if is_test(path) or "test" in path.parts]
    files = [(path, text) for path, text in files if path != pathlib.Path(__file__)]
    found = {name for name in read_by(files) if name.startswith("OCTAVO_")}
    # What octavo itself reads is on the page above, tests set it.
    assert found - listed("When octavo runs") <= listed("When tests run")
    comment = (ROOT / "test/shim/FileOperations.cpp").read_text().split("#include")[0]
    assert listed("When tests run") - {"PYTHONPATH"} == found - listed("When octavo runs") | set(
        re.findall(r"\bOCTAVO_\w+", comment))


def test_what_the_makefile_takes():
    """Variables that it defines for others to set."""
    text = (ROOT / "Makefile").read_text()
    assert set(re.findall(r"^(UNITY|BLOCKS) \??:?=", text, re.M)) | ({"BENCH"} if "$(BENCH)" in text else set()) == listed(
        "When octavo is built")
