"""A small cluster that has something of everything the console shows, and a browser: made once for
all tests of a run, and ended with it."""
import atexit
import functools
import unittest

import program
from browser import Browser, Page
from program import deployment, eventually, node_class, node_pool, pod_spec, pool_of

SPEED = 10  # seconds of the cluster in one of ours


@functools.cache
def browser() -> Browser:
    made = Browser()
    atexit.register(made.close)
    print(f"  {made.version}", flush=True)
    return made


def sandbox(speed: float = SPEED) -> program.Sandbox:
    made = program.Sandbox(speed)
    atexit.register(made.close)
    return made


@functools.cache
def small_cluster() -> program.Sandbox:
    """Nodes in two NodePools, one that never comes and has room kept, pods that no machine suits,
    and purchases, refusals and removals on record."""
    cluster = sandbox()
    for name in ("shop", "pay"):
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    cluster.create(node_class("quick", "5s"))
    cluster.create(node_class("late", "1h"))
    cluster.create(node_pool("shop"))
    cluster.create(node_pool("brief", consolidate_after="5s"))
    cluster.create(node_pool("late", of_class="late"))
    cluster.create(deployment("shop", "web", 12, pod_spec("1", **pool_of("shop"))))
    cluster.create(deployment("pay", "ledger", 5, pod_spec("500m", **pool_of("shop"))))
    cluster.create(deployment("pay", "report", 3, pod_spec("2", **pool_of("brief"))))
    cluster.create(deployment("shop", "slow", 3, pod_spec("1", **pool_of("late"))))
    nobody = {"nodeSelector": {"kubernetes.io/arch": "s390x"}}
    cluster.create(deployment("shop", "stuck", 2, pod_spec("1", **nobody)))

    def settled(running: int, wanted: set):
        bound = [pod for pod in cluster.list("Pod") if pod["spec"].get("nodeName")]
        assert len(bound) == running, f"{len(bound)} pods are on nodes"
        kinds = {each["decision"] for each in cluster.decisions()}
        assert wanted <= kinds, f"decided: {kinds}"

    eventually(lambda: settled(20, {"purchase", "refusal"}))
    cluster.scale("pay", "report", 0)
    eventually(lambda: settled(17, {"purchase", "refusal", "removal"}))

    def node_is_gone():
        pools = [node["nodePool"] for node in cluster.cluster()["nodes"]]
        assert "brief" not in pools and "late" in pools, pools

    eventually(node_is_gone)
    return cluster


class ConsoleTest(unittest.TestCase):
    """Its pages must give a developer nothing to see in red, and are closed."""

    def open(self, cluster: program.Sandbox, **look) -> Page:
        page = Page(browser(), cluster.console, **look)
        self.addCleanup(page.close)
        self.addCleanup(lambda: self.assertEqual(page.problems, []))
        page.until("document.getElementById('live').classList.contains('fresh')")
        return page
