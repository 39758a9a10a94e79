"""Every relative link of a page leads to a file, and its anchor to a heading. README's tables name every page."""
import pathlib
import re
import urllib.parse

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = sorted(path for folder, depth in ((ROOT, "*.md"), (ROOT / "docs", "**/*.md"), (ROOT / "examples", "**/*.md"))
               for path in folder.glob(depth))


def outside_fences(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(path):
    """As GitHub makes them of headings."""
    found, seen = set(), {}
    for heading in re.findall(r"^#+ +(.*)$", outside_fences(path.read_text()), re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if slug in seen else slug)
        seen[slug] = seen.get(slug, 0) + 1
    return found


def links(path):
    text = re.sub(r"`[^`\n]*`", lambda code: code[0].replace("](", "] ("), outside_fences(path.read_text()))
    return re.findall(r"\]\(([^)\s]+)\)", text)


def test_pages_are_found():
    assert len(PAGES) > 45


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    wrong = []
    for link in links(page):
        target, _, anchor = urllib.parse.unquote(link).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (page.parent / target).resolve() if target else page
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path)):
            wrong.append(link)
    assert not wrong


def test_every_page_is_linked_to():
    """From README, or from a page that README leads to."""
    reached, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        todo += [(page.parent / link.partition("#")[0]).resolve() for link in links(page)
                 if not re.match(r"[a-z]+:", link)]
    assert not [str(page.relative_to(ROOT)) for page in PAGES if page not in reached]
