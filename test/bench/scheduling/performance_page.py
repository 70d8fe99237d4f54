#!/usr/bin/env python3
"""performance_page.py FILE.json... [NOTE]: brings docs/performance.md up to date.

The files are what `scripts/bench planner --full --json FILE.json` and the same of arrival,
corners and growth write; what they have no figures for stays. Tables go between the page's markers, with this
machine and today's date (NOTE is added to them); the plot goes to docs/planner-growth.svg. Both its
axes are logarithmic, so a line that rises as fast as it goes to the right is time in proportion;
the slope of the straight line that fits best is the exponent above it.
"""
import datetime
import json
import math
import os
import re
import statistics
import sys

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs")
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


def exponent(points):
    """Of the power of the value that fits the seconds best: 1 is in proportion, 2 the square."""
    x, y = zip(*((math.log(value), math.log(taken)) for value, taken in points if value > 0))
    return statistics.linear_regression(x, y).slope


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
    out.append(f'<text x="{left + WIDTH / 2}" y="{MARGIN - 12}" class="title">{TITLES[axis]}: exponent {exponent(points):.2f}</text>')
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


def plot(rows):
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
    return "\n".join(out + ["</svg>", ""])


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def speed(rows):
    """Files of older builds have no rates with memory."""
    def rate(row, key):
        return f"{row[key]:,.0f}" if key in row else "-"

    return table(
        ["case", "pods", "here, pods/s", "with memory, pods/s", "Karpenter, pods/s", "ratio",
         "ratio with memory"],
        [[row["case"], f"{row['pods']:,}"]
         + [rate(row, key) for key in (
             "ours_pods_per_second", "ours_with_memory_pods_per_second", "peer_pods_per_second",
             "ratio", "ratio_with_memory")] for row in rows])


def corners(rows):
    """A side that was stopped has no plan, and its rate is a bound; one that failed has neither."""
    def seconds(row, whose):
        if row[f"{whose}_failed"]:
            return "failed"
        taken = row[f"{whose}_cpu_seconds"]
        return f"> {taken:,.0f}" if row[f"{whose}_stopped"] else f"{taken:,.3f}"

    def made(row, name, form):
        return form.format(row[name]) if name in row else "-"

    return table(
        ["case", "pods", "here, CPU s", "Karpenter, CPU s", "ratio", "here, MiB", "Karpenter, MiB",
         "nodes here", "nodes, Karpenter", "here, $/h", "Karpenter, $/h", "refused here",
         "refused, Karpenter"],
        [[row["case"], f"{row['pods']:,}", seconds(row, "ours"), seconds(row, "peer"),
          "-" if "ratio" not in row or row["ours_stopped"]
          else ("> " if row["peer_stopped"] else "") + f"{row['ratio']:,.0f}"]
         + [made(row, f"{whose}_peak_mib", "{:,.0f}") for whose in ("ours", "peer")]
         + [made(row, f"claims_{whose}", "{:,}") for whose in ("ours", "peer")]
         + [made(row, whose, "{:,.2f}") for whose in ("ours", "peer")]
         + [made(row, f"refused_{whose}", "{:,}") for whose in ("ours", "peer")] for row in rows])


def cost(rows):
    """Files of older builds have no means."""
    def mean(row, whose):
        key = f"{whose}_mean_of_types"
        return f"{row[key]:.3f}" if key in row else "-"

    ratios = [row["ours"] / row["peer"] for row in rows]
    bounds = [row["lower_bound"] / row["peer"] for row in rows]
    return table(
        ["workload", "pods", "here, $/h", "Karpenter, $/h", "bound, $/h", "here / bound",
         "here / Karpenter", "mean of types here", "Karpenter's", "nodes here", "nodes, Karpenter"],
        [[row["workload"], f"{row['pods']:,}", f"{row['ours']:.3f}", f"{row['peer']:.3f}",
          f"{row['lower_bound']:.3f}", f"{row['ours'] / row['lower_bound']:.3f}", f"{ratio:.3f}",
          mean(row, "ours"), mean(row, "peer"), str(row["claims_ours"]), str(row["claims_peer"])]
         for row, ratio in zip(rows, ratios)]
    ) + (f"\n\nMean of the ratio to Karpenter: {sum(ratios) / len(ratios):.3f}; the highest: "
         f"{max(ratios):.3f}. No plan can make the\nmean less than {sum(bounds) / len(bounds):.3f}, nor "
         f"the highest less than {max(bounds):.3f}: those are the bound's.")


def arrival(rows):
    """A line for each workload and rate; every manner of buying has its ratio to the plan at once."""
    manners = list(dict.fromkeys(row["manner"] for row in rows))
    lines = {}
    for row in rows:
        lines.setdefault((row["workload"], row["pods"], row["pods_per_second"]), {})[row["manner"]] = row
    header = ["workload", "pods", "pods/s", "at once, $/h", "here, $/h"]
    header += [f"{manner} / at once" for manner in manners] + ["nodes at once", "nodes here", "all bound"]
    table_rows = []
    for (workload, pods, rate), by_manner in lines.items():
        own = by_manner[manners[0]]
        table_rows.append(
            [workload, f"{pods:,}", str(rate), f"{own['at_once']:.3f}", f"{own['ours']:.3f}"]
            + [f"{by_manner[manner]['ours'] / by_manner[manner]['at_once']:.3f}" for manner in manners]
            + [str(own["claims_at_once"]), str(own["claims_ours"]), f"{own['all_bound_seconds']:.1f} s"])
    return table(header, table_rows)


def percentiles(figures):
    return f"p50 {figures['p50_ms']:.2f} ms, p99 {figures['p99_ms']:.2f} ms"


def scale(figures):
    full, arriving = figures["full"], figures["arriving"]
    return table(
        ["what", "measured", "target"],
        [[f"{full['pods']:,} mixed pods, {full['types']} types, {full['nodes']:,} nodes",
          f"{full['seconds']:.2f} s", "0.5 s"],
         ["the same, peak resident memory", f"{full['peak_mib']:.0f} MiB, "
          f"{full['problem_mib']:.0f} MiB of it the problem itself", "256 MiB"],
         [f"one arriving pod on {arriving['nodes']:,} nodes, half full", percentiles(arriving), "p99 5 ms"],
         ["the same, all nodes full: it needs a claim", percentiles(figures["arriving_full"]), "p99 5 ms"],
         ["the same, half full, Karpenter's recipe of pods", percentiles(figures["arriving_recipe"]), "p99 5 ms"]])


def machine(note):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = re.findall(r"^model name\s*: (.*)$", file.read(), re.MULTILINE)
    return f"Measured on {datetime.date.today()}, {len(names)} cores of {names[0] if names else 'unknown'}. {note}".strip()


def main():
    files = [word for word in sys.argv[1:] if word.endswith(".json")]
    if not files:
        sys.exit(__doc__)
    figures = {}
    for name in files:
        with open(name, encoding="utf-8") as file:
            figures.update(json.load(file))
    parts = {}
    if figures.get("speed"):
        parts["machine"] = machine(" ".join(word for word in sys.argv[1:] if word not in files))
        parts["speed"] = speed([row for row in figures["speed"] if "peer_failed" not in row])
    hard = figures.get("corners") or [
        row for row in figures.get("speed", []) if "peer_failed" in row]
    if hard:
        parts["corners"] = corners(hard)
    if figures.get("cost"):
        parts["cost"] = cost(figures["cost"])
    if figures.get("arrival"):
        parts["arrival"] = arrival(figures["arrival"])
    if "full" in figures:
        parts["scale"] = scale(figures)
    page = os.path.join(DOCS, "performance.md")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for name, part in parts.items():
        marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
        text = re.sub(f"{marks[0]}.*?{marks[1]}", lambda _: f"{marks[0]}\n{part}\n{marks[1]}", text,
                      flags=re.DOTALL)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
    if "growth" in figures:
        with open(os.path.join(DOCS, "planner-growth.svg"), "w", encoding="utf-8") as file:
            file.write(plot(figures["growth"]))


if __name__ == "__main__":
    main()
