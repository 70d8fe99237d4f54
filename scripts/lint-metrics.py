#!/usr/bin/env python3
"""Every metric and label that a dashboard, an alert or a query of docs/metrics.md asks for is in the
tables of docs/metrics.md. (A test of the sandbox holds the page of the program to these names.)"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/metrics.md"
CHART = ROOT / "manifests/chart"
KINDS = ["nodeclaim", "node", "nodepool", "capacitybuffer", "ec2nodeclass", "ecsnodeclass",
         "ccenodeclass", "kwoknodeclass"]
# The labels behind "node labels", without those of single clouds.
NODE_LABELS = {"node_name", "phase", "managed", "nodepool", "zone", "region", "instance_type", "arch",
               "os", "capacity_type", "windows_build"}
OPERATOR_LABELS = {"karpenter_sh_nodepool", "karpenter_sh_initialized", "group"}
PREFIX = r"\b(?:karpenter|millwright|operator|controller_runtime|workqueue|client_go|" \
         r"leader_election|aws_sdk_go)_[a-z0-9_]+"


def documented():
    """Metric name -> (type, labels)."""
    metrics = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| `") or len(cells) < 4:
            continue
        names = re.findall(r"`([a-z_<>]+)`", cells[0])
        types = [part.strip() for part in cells[1].split(",")]
        if not names or any(kind not in "GCHS" or not kind for kind in types):
            continue
        labels = {label.strip() for label in cells[2].split(",") if label.strip()}
        if "node labels" in labels:
            labels = labels - {"node labels"} | NODE_LABELS
        for index, name in enumerate(names):
            kind = types[min(index, len(types) - 1)]
            if "<kind>" in name:
                for each in KINDS:
                    metrics[name.replace("<kind>", each)] = (kind, labels | OPERATOR_LABELS)
            else:
                metrics[name] = (kind, labels)
    return metrics


def resolve(name, metrics):
    """The documented metric of a series, and its own labels; None when there is none."""
    if name in metrics:
        kind, labels = metrics[name]
        # The bare name of a histogram has no series.
        return None if kind == "H" else labels | ({"quantile"} if kind == "S" else set())
    for suffix, more in (("_bucket", {"le"}), ("_sum", set()), ("_count", set())):
        base = name.removesuffix(suffix)
        if base != name and base in metrics and metrics[base][0] in "HS":
            return metrics[base][1] | more
    return None


def problems_of(where, query, metrics):
    found = []
    known = set()
    for match in re.finditer(PREFIX, query):
        labels = resolve(match.group(), metrics)
        if labels is None:
            found.append(f"{where}: {match.group()} is not in docs/metrics.md")
            continue
        known |= labels
        selector = re.match(r"\{([^}]*)\}", query[match.end():])
        for label in re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)", selector.group(1) if selector else ""):
            if label not in labels:
                found.append(f"{where}: {match.group()} has no label {label}")
    if not re.search(PREFIX, query):
        found.append(f"{where}: asks for no metric: {query}")
    for group in re.findall(r"\b(?:by|on|without|ignoring)\s*\(([^)]*)\)", query):
        for label in filter(None, (part.strip() for part in group.split(","))):
            if label not in known:
                found.append(f"{where}: no metric of the query has the label {label}")
    return found


def dashboard_problems(path, metrics):
    where = path.relative_to(ROOT)
    board = json.loads(path.read_text())
    found = []
    if board.get("uid") != f"millwright-{path.stem}":
        found.append(f"{where}: its uid must be millwright-{path.stem}")
    ids = [panel["id"] for panel in board["panels"]]
    if len(ids) != len(set(ids)):
        found.append(f"{where}: two panels have one id")
    for panel in board["panels"]:
        if panel["datasource"]["uid"] != "${datasource}":
            found.append(f"{where}: panel {panel['title']} has a data source of its own")
        for target in panel["targets"]:
            at = f"{where}, {panel['title']}"
            found += problems_of(at, target["expr"], metrics)
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                if label not in target["expr"] and f"by ({label}" not in target["expr"] and not any(
                        label in (resolve(name, metrics) or set())
                        for name in re.findall(PREFIX, target["expr"])):
                    found.append(f"{at}: the legend names {label}, which no metric has")
    return found


def alert_problems(metrics):
    path = CHART / "rules.yaml"
    where = path.relative_to(ROOT)
    text = path.read_text()
    names = re.findall(r"- alert: (\w+)", text)
    queries = re.findall(r"^ +expr: (.+)$", text, re.M)
    found = [f"{where}: {name} is there twice" for name in set(names) if names.count(name) > 1]
    if len(names) != len(queries) or not names:
        found.append(f"{where}: each alert needs its expr on one line")
    for name, query in zip(names, queries):
        found += problems_of(f"{where}, {name}", query, metrics)
    return found


def page_problems(metrics):
    _, _, alerts = PAGE.read_text().partition("\n## Alerts\n")
    found = []
    for block in re.findall(r"(?:^ {4}.*\n?)+", alerts, re.M):
        found += problems_of("docs/metrics.md", block, metrics)
    return found


def main():
    metrics = documented()
    boards = sorted((CHART / "dashboards").glob("*.json"))
    found = alert_problems(metrics) + page_problems(metrics)
    for board in boards:
        found += dashboard_problems(board, metrics)
    if len(metrics) < 80 or not boards:
        found.append(f"only {len(metrics)} metrics and {len(boards)} dashboards were read")
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
