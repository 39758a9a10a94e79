"""Draws the demo's table: the size of the quantized weights against the fidelity of the embeddings.

    python picture.py REPORT.json PICTURE.png
"""

import argparse
import json
import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

INK = "#222222"
MUTED = "#6b6b6b"
# Okabe and Ito's palette, which colour-blind readers tell apart; the marker says the same again.
FAMILIES = (
    ("mxint", "MX integer", "#009E73", "s"),
    ("mxfp", "MX float", "#0072B2", "o"),
    ("nvfp", "NVFP4", "#D55E00", "D"),
    ("fp8", "FP8 with f32 scales", "#CC79A7", "^"),
)
# Least distance between two labels of one side, in decades of the vertical axis.
LABEL_GAP = 0.082


def family(row):
    return next(f for f in FAMILIES if row["weights"].startswith(f[0]))


def loss(row):
    return 1 - row["cosine_worst"]


def megabytes(row):
    return row["weight_bytes"] / 1e6


def spread(wanted, gap):
    """Positions as near to `wanted` (ascending) as a least distance of `gap` lets them be."""
    groups = []
    for index, position in enumerate(wanted):
        groups.append((position, 1, [index]))
        while len(groups) > 1:
            (low, low_count, low_members), (high, high_count, high_members) = groups[-2:]
            if high - low >= gap * (low_count + high_count) / 2:
                break
            count = low_count + high_count
            centre = (low * low_count + high * high_count) / count
            groups[-2:] = [(centre, count, low_members + high_members)]
    placed = {}
    for centre, count, members in groups:
        for rank, index in enumerate(members):
            placed[index] = centre + gap * (rank - (count - 1) / 2)
    return [placed[index] for index in range(len(wanted))]


def finding(report):
    """The title: what the most faithful format costs, and what the best of the smallest does."""
    rows = [row for row in report["formats"] if row["activations"]]
    faithful = min(rows, key=loss)
    smallest = min(row["weight_bytes"] for row in rows)
    small = min((row for row in rows if row["weight_bytes"] < 1.15 * smallest), key=loss)

    def share(row):
        return f"{row['weight_bytes'] / report['f32']['weight_bytes']:.0%}"

    def kept(row):
        digits = 1 - math.floor(math.log10(loss(row)))
        return f"{math.floor(row['cosine_worst'] * 10**digits) / 10**digits:.{digits}f}"

    return (
        f"At {share(faithful)} of the bytes, {faithful['name']} keeps every embedding at cosine"
        f" {kept(faithful)} or more;\nat {share(small)}, {small['name']} keeps {kept(small)}"
    )


def draw(report, path):
    """Writes the picture of `report` (demo.py says what that holds) to `path`."""
    rows = sorted(report["formats"], key=loss)
    figure, axes = plt.subplots(figsize=(9.6, 6.0), dpi=160)
    axes.set_yscale("log")
    for row in rows:
        _, _, colour, marker = family(row)
        axes.plot(
            megabytes(row),
            loss(row),
            marker,
            markersize=8,
            color=colour,
            markerfacecolor=colour if row["activations"] else "white",
            markeredgecolor=colour,
            markeredgewidth=1.4,
            linestyle="none",
            zorder=3,
        )

    sizes = [megabytes(row) for row in rows]
    width = max(sizes) - min(sizes)

    def side(row):
        """Left where another column of points is close on the right."""
        beyond = [size - megabytes(row) for size in sizes if size > megabytes(row)]
        return -1 if any(0.02 * width < distance < 0.15 * width for distance in beyond) else 1

    columns = {}
    for row in rows:
        columns.setdefault((side(row), round(2 * megabytes(row) / width, 1)), []).append(row)
    for (direction, _), column in columns.items():
        heights = spread([math.log10(loss(row)) for row in column], LABEL_GAP)
        for row, height in zip(column, heights):
            axes.annotate(
                row["name"],
                xy=(megabytes(row), loss(row)),
                xytext=(megabytes(row) + direction * 0.022 * width, 10**height),
                ha="left" if direction > 0 else "right",
                va="center",
                fontsize=9.5,
                color=INK,
            )

    axes.set_xlim(min(sizes) - 0.34 * width, max(sizes) + 0.3 * width)
    low, high = min(map(loss, rows)), max(map(loss, rows))
    axes.set_ylim(low / 1.7, high * 1.7)
    axes.set_xlabel("bytes of the quantized weights, scales included [MB]", color=INK)
    axes.set_ylabel("1 − cosine to the f32 embedding, worst sentence", color=INK)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(True, which="major", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#999999")
    axes.tick_params(colors=MUTED, which="both")

    f32 = report["f32"]
    axes.text(
        0.02,
        0.03,
        f"f32 itself: {f32['weight_bytes'] / 1e6:.1f} MB, off to the right;\n"
        f"within {f32['max_difference_to_jax']:.1e} of JAX's embeddings",
        transform=axes.transAxes,
        ha="left",
        va="bottom",
        fontsize=9,
        color=MUTED,
    )
    shown = [f for f in FAMILIES if any(family(row) is f for row in rows)]
    handles = [
        Line2D([], [], marker=marker, color=colour, linestyle="none", label=label)
        for _, label, colour, marker in shown
    ]
    handles.append(
        Line2D(
            [],
            [],
            marker="o",
            color=MUTED,
            markerfacecolor="white",
            linestyle="none",
            label="hollow: weights only, activations f32",
        )
    )
    axes.legend(handles=handles, frameon=False, fontsize=9, loc="upper right", labelcolor=INK)
    figure.suptitle(finding(report), x=0.015, ha="left", fontsize=12.5, color=INK, weight="bold")
    axes.set_title(
        f"MiniLM-L6, {len(report['sentences'])} sentences; both operands of"
        f" {report['dots']} products quantized; lower left is better",
        loc="left",
        fontsize=9.5,
        color=MUTED,
    )
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    # No date or version inside: the same report gives the same bytes.
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    draw(json.loads(arguments.report.read_text()), arguments.picture)


if __name__ == "__main__":
    main()
