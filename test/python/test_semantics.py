"""The rules that sources, tests and pages cite are on docs/semantics.md and docs/semantics-programs.md, each once,
and the index of the first counts them."""
import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / name).read_text() for name in ("semantics.md", "semantics-programs.md")}
RULES = collections.Counter(rule for page in PAGES.values() for rule in re.findall(r"^\*\*([NSFDPCI]\d+)\.", page, re.M))


def test_every_rule_is_there_once():
    assert len(RULES) > 90 and set(RULES.values()) == {1}
    for family, last in re.findall(r"^\| ([NSFDPCI])1 to [NSFDPCI](\d+) \|", PAGES["semantics.md"].split("## N.")[0], re.M):
        assert [rule for rule in RULES if rule[0] == family and int(rule[1:]) > int(last)] == []
        assert all(f"{family}{number}" in RULES for number in range(1, int(last) + 1)), family


def test_what_is_cited_is_there():
    """After the page's name: `docs/semantics.md, D4 and I13`, `[semantics.md](semantics.md), S8`."""
    cited = {}
    for folder in ("octavo", "python", "tools", "test/python", "docs", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".h", ".cpp", ".td", ".py", ".md") and path.is_file():
                for run in re.findall(r"semantics(?:-programs)?\.md[^\n]{0,60}", path.read_text()):
                    for rule in re.findall(r"\b([NSFDPCI][1-9]\d?)\b", run):
                        cited.setdefault(rule, path.name)
    assert len(cited) > 30
    assert {rule: place for rule, place in cited.items() if rule not in RULES} == {}
