#!/usr/bin/env python3
"""day_picture.py FIGURES.json... OUT.svg: a day of load, with Millwright's removal and Karpenter's rules.

FIGURES.json is what `scripts/bench day --json FIGURES.json` writes; two of them where each side was
played by itself. Above, what the nodes cost an
hour, over the running pods; below, the evictions since the day began.
"""
import json
import sys

WIDTH, LEFT, TOP, UPPER, LOWER, GAP = 860, 62, 58, 230, 120, 44
SIDES = [("peer", "Karpenter's rules", "#cf222e"), ("ours", "Millwright", "#2da44e")]
STYLE = (
    "text{font-family:sans-serif;font-size:12px;fill:#24292f}.tick{font-size:11px;fill:#57606a}"
    ".frame{fill:none;stroke:#d0d7de}.line{fill:none;stroke-width:2}.load{fill:#eaeef2}"
)


def round_up(value):
    """The next of 1, 2 or 5 times a power of ten."""
    step = 1.0
    while True:
        for factor in (1, 2, 5):
            if factor * step >= value:
                return factor * step
        step *= 10


class Chart:
    def __init__(self, top, height, hours, most, unit):
        self.top, self.height, self.hours = top, height, hours
        self.most, self.unit = round_up(most), unit

    def at(self, hour, value):
        x = LEFT + (WIDTH - LEFT - 8) * hour / self.hours
        return f"{x:.1f},{self.top + self.height * (1 - value / self.most):.1f}"

    def frame(self):
        width = WIDTH - LEFT - 8
        yield f'<rect class="frame" x="{LEFT}" y="{self.top}" width="{width}" height="{self.height}"/>'
        for part in (0, 0.5, 1):
            y = self.top + self.height * (1 - part) + 4
            yield f'<text class="tick" x="{LEFT - 6}" y="{y:.0f}" text-anchor="end">{part * self.most:g}{self.unit}</text>'

    def line(self, color, points):
        path = " ".join(self.at(hour, value) for hour, value in points)
        return f'<polyline class="line" stroke="{color}" points="{path}"/>'

    def area(self, points):
        path = " ".join(self.at(hour, value) for hour, value in [(0, 0), *points, (self.hours, 0)])
        return f'<polygon class="load" points="{path}"/>'


def points_of(day, key):
    return [(sample["hour"], sample[key]) for sample in day["samples"]]


def picture(figures):
    hours = figures["hours"]
    dearest = max(price for side, _, _ in SIDES for _, price in points_of(figures[side], "pricePerHour"))
    prices = Chart(TOP, UPPER, hours, dearest, " $/h")
    moves = Chart(TOP + UPPER + GAP, LOWER, hours,
                  max(1, *(figures[side]["evicted"] for side, _, _ in SIDES)), "")
    pods = points_of(figures["ours"], "pods")
    most_pods = max(count for _, count in pods)
    load = [(hour, prices.most * 0.9 * count / most_pods) for hour, count in pods]
    height = TOP + UPPER + GAP + LOWER + 26
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 10} {height}" role="img">',
           "<title>A day of load: dollars an hour and evictions with Millwright and with Karpenter's rules</title>",
           f"<style>{STYLE}</style>", '<rect width="100%" height="100%" fill="#fff"/>', prices.area(load)]
    for row, (side, name, color) in enumerate(SIDES):
        day = figures[side]
        out += [prices.line(color, points_of(day, "pricePerHour")),
                moves.line(color, points_of(day, "evicted")),
                f'<rect x="{LEFT}" y="{10 + 18 * row}" width="12" height="12" fill="{color}"/>',
                f'<text x="{LEFT + 18}" y="{20 + 18 * row}">{name}: ${day["dollars"]:,.0f} in {hours} hours, '
                f'{day["evicted"]:,.0f} pods evicted, {day["machines"]:,} machines bought</text>']
    out += [*prices.frame(), *moves.frame(),
            f'<text class="tick" x="{LEFT}" y="{TOP + UPPER + GAP - 8}">pods evicted since the day began</text>',
            f'<text class="tick" x="{WIDTH - 12}" y="{TOP + UPPER - 6}" text-anchor="end">grey: running pods, at most {most_pods:,}</text>']
    for hour in range(0, hours + 1, max(1, hours // 8)):
        x = prices.at(hour, 0).split(",")[0]
        out.append(f'<text class="tick" x="{x}" y="{height - 8}" text-anchor="middle">{hour} h</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    figures = {}
    for name in sys.argv[1:-1]:
        with open(name, encoding="utf-8") as file:
            figures.update(json.load(file))
    with open(sys.argv[-1], "w", encoding="utf-8") as file:
        file.write(picture(figures))


if __name__ == "__main__":
    main()
