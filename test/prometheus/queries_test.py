"""Every query of the dashboards, of the alerts and of docs/metrics.md is asked of a real Prometheus
that scrapes a sandbox: it can be read, and it finds something where the sandbox has it. promtool
reads the alerts. (scripts/lint-metrics.py holds the names to docs/metrics.md.)"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest
import urllib.error
import urllib.parse
import urllib.request

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "test" / "console"))

from program import eventually, node_pool  # noqa: E402
from scene import small_cluster  # noqa: E402

CHART = REPOSITORY / "manifests" / "chart"
RULES = CHART / "rules.yaml"
GRAFANA = {"$__rate_interval": "1m", "$__range": "10m"}  # what Grafana fills in
# Only the process of a controller has them, or they count what does not happen in the sandbox.
NOT_THERE = {
    "leader_election_master_status": "the sandbox needs no Lease",
    "millwright_certificate_expiry_seconds": "its certificates are made once",
    "millwright_clock_offset_seconds": "it has one clock",
    "karpenter_cloudprovider_errors_total": "no call failed",
    "karpenter_voluntary_disruption_failed_validations_total": "no node was kept by a second look",
    "karpenter_voluntary_disruption_queue_failures_total": "nothing was taken back",
    "operator_node_termination_current_time_seconds": "no node drains for long",
    "millwright_extender_refused_nodes_total": "no node was refused",
    "millwright_reservations_void_total": "no reservation ended unused",
    "controller_runtime_reconcile_errors_total": "nothing failed",
}


def dashboard_queries() -> list:
    found = []
    for path in sorted((CHART / "dashboards").glob("*.json")):
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
            for target in panel["targets"]:
                found.append((f"{path.stem}: {panel['title']}", target["expr"]))
    return found


def alert_queries() -> list:
    text = RULES.read_text(encoding="utf-8")
    return list(zip(re.findall(r"- alert: (\w+)", text), re.findall(r"^ +expr: (.+)$", text, re.M)))


def documented_queries() -> list:
    page = (REPOSITORY / "docs" / "metrics.md").read_text(encoding="utf-8")
    _, _, alerts = page.partition("\n## Alerts\n")
    return [("docs/metrics.md", textwrap.dedent(block).strip())
            for block in re.findall(r"(?:^ {4}.*\n?)+", alerts, re.M)]


class Prometheus:
    """Scrapes one address each second, and evaluates the chart's alerts."""

    def __init__(self, metrics: str):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="millwright-prometheus-"))
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{found.getsockname()[1]}"
        target = urllib.parse.urlsplit(metrics)
        shutil.copy(RULES, self.folder / "rules.yaml")
        (self.folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yaml"],
            "scrape_configs": [{"job_name": "millwright", "metrics_path": target.path,
                                "static_configs": [{"targets": [target.netloc]}]}],
        }), encoding="utf-8")
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.folder}/prometheus.yml",
                 f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address={self.url.removeprefix('http://')}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        eventually(self.check_ready)

    def check_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError((self.folder / "log").read_text(encoding="utf-8"))
        try:
            urllib.request.urlopen(self.url + "/-/ready", timeout=5).close()
        except OSError as error:
            raise AssertionError(error) from error

    def get(self, path: str):
        try:
            with urllib.request.urlopen(self.url + path, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()}") from error

    def query(self, text: str) -> list:
        for name, value in GRAFANA.items():
            text = text.replace(name, value)
        return self.get("/api/v1/query?" + urllib.parse.urlencode({"query": text}))["result"]

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Queries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = small_cluster()
        cls.prometheus = Prometheus(cls.cluster.metrics)
        cls.addClassCleanup(cls.prometheus.close)
        # Something more is bought, removed and drained while it looks.
        limited = node_pool("limited")
        limited["spec"]["limits"] = {"cpu": "100"}
        cls.cluster.create(limited)
        claim = next(each["metadata"]["name"] for each in cls.cluster.list("NodeClaim")
                     if each["metadata"]["labels"]["karpenter.sh/nodepool"] == "shop")
        cls.cluster.request("DELETE", f"/apis/karpenter.sh/v1/nodeclaims/{claim}")
        cls.cluster.scale("pay", "report", 3)
        eventually(cls.check_bought)
        cls.cluster.scale("pay", "report", 0)

    @classmethod
    def check_bought(cls):
        pools = [node["nodePool"] for node in cls.cluster.cluster()["nodes"]
                 if node["state"] == "Ready"]
        assert "brief" in pools, pools

    def test_each_panel_of_each_dashboard_shows_something(self):
        queries = dashboard_queries()
        self.assertGreater(len(queries), 40)
        empty = {}

        def look():
            empty.clear()
            for where, text in queries:
                if not self.prometheus.query(text):
                    empty[where] = text
            for where, text in empty.items():
                self.assertTrue(any(name in text for name in NOT_THERE), f"{where}: {text}")

        eventually(look, 90)
        print(f"  {len(queries) - len(empty)} of {len(queries)} queries of dashboards found "
              "something", flush=True)

    def test_each_alert_and_each_query_of_the_page_can_be_asked(self):
        queries = alert_queries() + documented_queries()
        self.assertGreater(len(queries), 15)
        for where, text in queries:
            with self.subTest(where):
                self.prometheus.query(text)

    def test_the_alerts_are_evaluated_without_an_error(self):
        def evaluated():
            rules = [rule for group in self.prometheus.get("/api/v1/rules")["groups"]
                     for rule in group["rules"]]
            self.assertEqual({rule["name"] for rule in rules},
                             {name for name, _ in alert_queries()})
            for rule in rules:
                self.assertEqual(rule["health"], "ok", rule)

        eventually(evaluated)

    def test_promtool_reads_the_alerts(self):
        told = subprocess.run(["promtool", "check", "rules", RULES], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(told.returncode, 0, told.stdout)
        self.assertIn(f"{len(alert_queries())} rules found", told.stdout)

    def test_promtool_reads_the_page(self):
        with urllib.request.urlopen(self.cluster.metrics, timeout=30) as answer:
            page = answer.read()
        told = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True,
                              env=os.environ, check=False)
        # 3: of style, such as names that are Karpenter's.
        self.assertIn(told.returncode, (0, 3), told.stderr.decode())


if __name__ == "__main__":
    unittest.main()
