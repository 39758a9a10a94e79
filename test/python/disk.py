"""What a disk holds after a loss of power, from a trace of file operations (test/shim/FileOperations.cpp).

POSIX promises of a file that its bytes are there once it was synced, and of a name, new, replaced or
gone, that it is so once its folder was synced. Before that either may have happened, names in any order.
"""
import dataclasses
import itertools
import pathlib
import re

FOLDER = None  # the content of a folder, in a tree: path -> content
TEMPORARY = re.compile(r"(.*/)?\.octavo-[0-9a-f]{32}\.part")
MOST_ORDERS = 6  # names that may be kept or lost in all ways; of more, some ways are taken


@dataclasses.dataclass
class Operation:
    kind: str  # sync, sync-folder, rename, remove, mkdir
    path: str  # of rename: the new name
    source: str = ""  # of rename
    content: bytes = b""  # of sync and rename: the file as it is then


def read_trace(folder):
    operations = []
    for line in (folder / "trace").read_text().splitlines():
        kind, *rest = line.split("\t")
        if kind == "rename":
            source, path, copy = rest
            operations.append(Operation(kind, path, source, (folder / copy).read_bytes()))
        elif kind == "sync":
            path, copy = rest
            operations.append(Operation(kind, path, content=(folder / copy).read_bytes()))
        else:
            operations.append(Operation(kind, *rest))
    return operations


def parent(path):
    return str(pathlib.PurePosixPath(path).parent)


def apply(tree, operation, content):
    """The tree once a name has changed; unchanged where its folder is not there."""
    path = operation.path
    if parent(path) != "." and parent(path) not in tree:
        return tree
    if operation.kind == "mkdir":
        return tree | {path: FOLDER}
    if operation.kind == "remove":
        return {name: each for name, each in tree.items() if name != path and not name.startswith(path + "/")}
    return tree | {path: content}


def kept(pending):
    """The names that may have been kept, of those that need not have been."""
    if len(pending) <= MOST_ORDERS:
        yield from itertools.product([False, True], repeat=len(pending))
        return
    for n in range(len(pending) + 1):
        yield tuple(i < n for i in range(len(pending)))
        yield tuple(i == n for i in range(len(pending)))
        yield tuple(i != n for i in range(len(pending)))


def torn(content):
    """What a file may hold whose bytes were not synced: as long as it was made, and all of them, none, or
    those that were written first."""
    half = len(content) // 2
    return [content, bytes(len(content)), content[:half] + bytes(len(content) - half)]


def trees_after(start, operations, dropped=()):
    """All trees that may be found after each of the operations, those of `dropped` left out of the syncs:
    (number of operations that were done, tree)."""
    durables, pending, synced = [start], [], set()
    for n in range(len(operations) + 1):
        if n > 0:
            operation = operations[n - 1]
            if operation.kind == "sync":
                if n - 1 not in dropped:
                    synced.add(operation.path)
            elif operation.kind == "sync-folder":
                if n - 1 not in dropped:
                    mine = [each for each in pending if parent(each[0].path) == operation.path]
                    for each, contents in mine:
                        durables = [apply(tree, each, content) for tree in durables for content in contents]
                    pending = [each for each in pending if parent(each[0].path) != operation.path]
            else:
                contents = [operation.content]
                if operation.kind == "rename" and operation.source not in synced:
                    contents = torn(operation.content)
                pending.append((operation, contents))
        for choice in kept(pending):
            chosen = [each for each, isKept in zip(pending, choice) if isKept]
            for tree, *contents in itertools.product(durables, *(contents for _, contents in chosen)):
                for (operation, _), content in zip(chosen, contents):
                    tree = apply(tree, operation, content)
                yield n, tree


def read_tree(root):
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else FOLDER
            for path in root.rglob("*") if not TEMPORARY.fullmatch(str(path.relative_to(root)))}


def write_tree(root, tree):
    root.mkdir()
    for path in sorted(tree):
        if tree[path] is FOLDER:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(tree[path])
