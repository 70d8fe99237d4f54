#!/usr/bin/env python3
"""plot_growth.py GROWTH.json OUT.svg: how the planner's time grows, as three small plots.

GROWTH.json is what `scripts/bench growth --json FILE` writes. Both axes are logarithmic, so a
straight line that rises as fast as it goes to the right is time in proportion.
"""
import json
import math
import sys

WIDTH, HEIGHT, MARGIN, GAP = 260, 200, 48, 24
TITLES = {
    "pods": "pods (800 types, no nodes)",
    "types": "instance types (10,000 pods)",
    "nodes": "existing nodes (10,000 pods, 200 types)",
}


def ticks(low, high):
    return [10**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def shown(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def panel(axis, points, seconds, left):
    """One plot; a value of 0 has no logarithm and is drawn at the left edge."""
    values = [value for value, _ in points if value > 0]
    low, high = math.log10(min(values)) - 0.1, math.log10(max(values)) + 0.1
    bottom, top = math.log10(seconds[0]), math.log10(seconds[-1])

    def x(value):
        return left + (WIDTH * (math.log10(value) - low) / (high - low) if value > 0 else 0)

    def y(value):
        return MARGIN + HEIGHT * (top - math.log10(value)) / (top - bottom)

    out = [f'<rect x="{left}" y="{MARGIN}" width="{WIDTH}" height="{HEIGHT}" class="frame"/>']
    out.append(f'<text x="{left + WIDTH / 2}" y="{MARGIN - 12}" class="title">{TITLES[axis]}</text>')
    for value, _ in points:
        out.append(f'<text x="{x(value):.1f}" y="{MARGIN + HEIGHT + 16}" class="tick">{shown(value)}</text>')
    for value in seconds:
        out.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{y(value):.1f}" y2="{y(value):.1f}" class="grid"/>')
        out.append(f'<text x="{left - 5}" y="{y(value) + 4:.1f}" class="scale">{shown(value)} s</text>')
    line = " ".join(f"{x(value):.1f},{y(taken):.1f}" for value, taken in points)
    out.append(f'<polyline points="{line}" class="line"/>')
    for value, taken in points:
        out.append(f'<circle cx="{x(value):.1f}" cy="{y(taken):.1f}" r="3"><title>{shown(value)}: {taken:.3f} s</title></circle>')
    return out


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)["growth"]
    taken = [row["seconds"] for row in rows]
    seconds = ticks(min(taken), max(taken))
    total = len(TITLES) * (WIDTH + MARGIN + GAP) + GAP
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {HEIGHT + 2 * MARGIN}" font-family="sans-serif" font-size="11">',
        "<style>.frame{fill:none;stroke:#888}.grid{stroke:#ddd}.line{fill:none;stroke:#0a6;stroke-width:2}"
        "circle{fill:#0a6}.title,.tick{text-anchor:middle}.scale{text-anchor:end}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for number, axis in enumerate(TITLES):
        points = [(row["value"], row["seconds"]) for row in rows if row["axis"] == axis]
        out += panel(axis, points, seconds, MARGIN + GAP + number * (WIDTH + MARGIN + GAP))
    out.append("</svg>")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
