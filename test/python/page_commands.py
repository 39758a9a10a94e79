"""The command lines that a page shows."""
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
# A word of a synopsis stands for something else, and is no command to run.
SYNOPSIS = re.compile(r"\[(-|NAME|FORMAT)|\b(PROGRAM|FILE|SET|DIR|OUT|OTHER|RECIPE|BUDGET)\b")
STARTS = (r"(?:\$ )?((?:octavo(?:-opt)?|build/release/bin/octavo(?:-opt)?|cc|cmake|golden/build/golden_model"
          r"|\.venv/bin/python|LD_LIBRARY_PATH=\S+) .*|weights=\$\(.*)")


def commands_of(lines):
    """Continued lines are joined, comments left out."""
    found = []
    lines = iter(lines)
    for line in lines:
        shown = re.match(rf"(?:    )?{STARTS}$", line)
        if not shown:
            continue
        command = shown[1]
        while command.endswith("\\"):
            command = command[:-1] + next(lines).strip()
        command = re.sub(r"\s+#.*", "", command)
        if not SYNOPSIS.search(command):
            found.append(command)
    return found


def blocks(page):
    """The fences of a page and the lines indented by four between them: pairs of a language and lines."""
    found, language = [], None
    for line in (ROOT / page).read_text().splitlines():
        if line.startswith("```"):
            language = None if language is not None else line[3:]
            if language is not None:
                found.append((language, []))
        elif language is not None:
            found[-1][1].append(line)
        elif line.startswith("    "):
            found.append(("indented", [line]))
    return found


def commands(page):
    """The command lines in fences and indented by four."""
    lines = [line for _, block in blocks(page) for line in block]
    return [command for command in commands_of(lines) if not command.startswith("octavo checkpoint")]
