#!/usr/bin/env python3
"""rollout_picture.py FIGURES.json OUT.svg: one scenario, Karpenter and Millwright side by side.

FIGURES.json is what `scripts/bench field SCENARIO --json FIGURES.json` writes; its first scenario is
drawn. A line is a machine: grey while it starts, green while it has pods, red while it is Ready,
paid for and empty. Below, the pods that wait for a node. Both sides have the same scales, and what
stands at the end stands until the longer of the two has settled.
"""
import html
import json
import sys

PANEL, GAP, LEFT, TOP = 430, 40, 8, 86
LINES, WAITING = 240, 56
SIDES = [("peer", "Karpenter 1.15.0"), ("ours", "Millwright")]
STYLE = (
    "text{font-family:sans-serif;fill:#24292f}.name{font-size:17px;font-weight:bold}"
    ".says{font-size:12px}.tick{font-size:11px;fill:#57606a}.frame{fill:none;stroke:#d0d7de}"
    ".starts{fill:#c8ced5}.used{fill:#2da44e}.empty{fill:#cf222e}.waiting{fill:#bf8700}"
)


def empty_spans(machine, end):
    """When the machine was Ready and had no pod, in seconds."""
    if machine["ready"] is None:
        return []
    at, spans = machine["ready"], []
    for start, stop in machine["used"]:
        if start > at:
            spans.append((at, start))
        at = max(at, stop)
    return spans + ([(at, end)] if at < end else [])


def counted(number, what):
    return f"{number:.0f} {what}" + ("" if number == 1 else "s")


class Panel:
    def __init__(self, figures, left, seconds, height, most_waiting):
        self.figures, self.left, self.seconds = figures, left, seconds
        self.height, self.most_waiting = height, max(1, most_waiting)

    def x(self, second):
        return self.left + PANEL * min(second, self.seconds) / self.seconds

    def bar(self, kind, row, start, stop):
        y = TOP + row * self.height
        width = max(0.6, self.x(stop) - self.x(start))
        return (f'<rect class="{kind}" x="{self.x(start):.1f}" y="{y:.1f}" width="{width:.1f}" '
                f'height="{self.height * 0.8:.1f}"/>')

    def machine(self, row, machine):
        end = self.seconds if machine["gone"] is None else machine["gone"]
        ready = end if machine["ready"] is None else machine["ready"]
        yield self.bar("starts", row, machine["bought"], ready)
        for start, stop in machine["used"]:
            # A pod that was there at the end of the record is there until the end of the picture.
            stays = machine["gone"] is None and stop >= self.figures["timeline"]["seconds"]
            yield self.bar("used", row, start, end if stays else stop)
        if machine["gone"] is None and machine["used"] and machine["used"][-1][1] >= self.figures["timeline"]["seconds"]:
            end = machine["used"][-1][1]
        for start, stop in empty_spans(machine, end):
            yield self.bar("empty", row, start, stop)

    def waiting(self):
        base = TOP + LINES + 24 + WAITING
        points, last = [(0, 0)], 0
        for second, pods in self.figures["timeline"]["waiting"]:
            points += [(second, last), (second, pods)]
            last = pods
        points += [(self.seconds, last), (self.seconds, 0)]
        path = " ".join(f"{self.x(s):.1f},{base - WAITING * pods / self.most_waiting:.1f}"
                        for s, pods in points)
        yield f'<polygon class="waiting" points="{path}"/>'
        yield f'<rect class="frame" x="{self.left}" y="{base - WAITING}" width="{PANEL}" height="{WAITING}"/>'
        yield f'<text class="tick" x="{self.left + PANEL - 4}" y="{base - WAITING + 13}" text-anchor="end">pods that wait (at most {self.most_waiting})</text>'
        step = 60 if self.seconds > 120 else 10
        for second in range(0, int(self.seconds) + 1, step):
            yield f'<text class="tick" x="{self.x(second):.1f}" y="{base + 15}" text-anchor="middle">{second} s</text>'

    def draw(self, name):
        figures = self.figures
        machines = figures["timeline"]["machines"]
        yield f'<text class="name" x="{self.left}" y="22">{html.escape(name)}</text>'
        says = (f'{counted(figures["claimsCreated"], "machine")} bought, '
                f'{counted(figures["evicted"], "pod")} evicted, ${figures["dollars"]:.2f}; '
                f'last pod bound after {figures["allBound"]:.0f} s')
        yield f'<text class="says" x="{self.left}" y="42">{says}</text>'
        for row, machine in enumerate(machines):
            yield from self.machine(row, machine)
        yield f'<rect class="frame" x="{self.left}" y="{TOP}" width="{PANEL}" height="{LINES}"/>'
        yield from self.waiting()


def legend():
    x = LEFT
    for kind, text in [("starts", "starts"), ("used", "has pods"), ("empty", "Ready and empty: paid for nothing"),
                       ("waiting", "pods that wait")]:
        yield f'<rect class="{kind}" x="{x}" y="60" width="12" height="12"/>'
        yield f'<text class="says" x="{x + 17}" y="71">{text}</text>'
        x += 34 + 6.4 * len(text)


def picture(scenario):
    seconds = max(scenario[side]["settled"] for side, _ in SIDES)
    most = max(len(scenario[side]["timeline"]["machines"]) for side, _ in SIDES)
    waiting = max((pods for side, _ in SIDES for _, pods in scenario[side]["timeline"]["waiting"]), default=0)
    width, height = 2 * PANEL + GAP + 2 * LEFT + 8, TOP + LINES + WAITING + 48
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
           f'<title>{html.escape(scenario["name"])}: machines over time with Karpenter and with Millwright</title>',
           f"<style>{STYLE}</style>", '<rect width="100%" height="100%" fill="#fff"/>', *legend()]
    for number, (side, name) in enumerate(SIDES):
        panel = Panel(scenario[side], LEFT + number * (PANEL + GAP), seconds, LINES / most, waiting)
        out += panel.draw(name)
    return "\n".join(out + ["</svg>", ""])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        scenario = json.load(file)["scenarios"][0]
    missing = [side for side, _ in SIDES if scenario.get(side, {}).get("settled") is None]
    if missing:
        sys.exit(f"{sys.argv[1]}: no settled figures of {' and '.join(missing)}; both sides must be played")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(picture(scenario))


if __name__ == "__main__":
    main()
