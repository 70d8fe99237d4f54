"""Each command of docs/asking.md, asked of a sandbox as a person asks it: with the sandbox's
kubeconfig and the CA that lies in its Secret. `console` is opened in the browser."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import time
import unittest

from browser import Page
from program import PROGRAM, deployment, eventually, node_class, node_pool, pod_spec, pool_of
from scene import ConsoleTest, browser, sandbox, small_cluster

PLANNED = {  # what `kubectl get -A -o json` is asked for
    "/api/v1": ("nodes", "pods", "namespaces"),
    "/apis/apps/v1": ("deployments", "replicasets"),
    "/apis/karpenter.sh/v1": ("nodepools", "nodeclaims"),
    "/apis/karpenter.kwok.sh/v1alpha1": ("kwoknodeclasses",),
}


def everything(cluster) -> dict:
    """The List that `kubectl get -A -o json` prints."""
    items = []
    for folder, resources in PLANNED.items():
        for resource in resources:
            listed = cluster.request("GET", f"{folder}/{resource}")
            items += [each | {"kind": listed["kind"].removesuffix("List"),
                              "apiVersion": listed["apiVersion"]} for each in listed["items"]]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


class Opened:
    """`millwright console`, told to end after the test."""

    def __init__(self, cluster, *options):
        self.program = cluster.start("console", *cluster.server_options(), *options)
        self.console = self.program.await_line(r"(http://127\.0\.0\.1:\d+/\w+/console/)")
        self.port = int(self.console.split(":")[2].split("/")[0])

    def close(self):
        if self.program.process.returncode is None:
            self.program.end()


class Console(ConsoleTest):
    def start(self, *options) -> Opened:
        opened = Opened(small_cluster(), *options)
        self.addCleanup(opened.close)
        return opened

    def test_it_prints_an_address_shows_the_cluster_and_ends_when_told(self):
        cluster = small_cluster()
        opened = self.start()
        page = self.open(opened)

        def the_same():
            nodes = cluster.cluster()["nodes"]
            shown = page.evaluate("inPage.shown()")
            self.assertEqual(sorted(tile["label"].split(",")[0] for tile in shown["tiles"]),
                             sorted(node["name"] for node in nodes))
            self.assertIn("s390x", " ".join(row[3] for row in shown["waiting"]))
            self.assertIn("Bought", {each["kind"] for each in shown["decisions"]})

        eventually(the_same, 20)
        # A change comes by the stream that the command passes on.
        page.evaluate("window.stillHere = true")
        before = page.evaluate("inPage.shown().totals['Pods waiting']")
        nobody = pod_spec("1", nodeSelector={"kubernetes.io/arch": "s390x"})
        cluster.create(deployment("pay", "later", 1, nobody))
        self.addCleanup(cluster.scale, "pay", "later", 0)
        page.until(f"inPage.shown().totals['Pods waiting'] !== '{before}'")
        self.assertTrue(page.evaluate("window.stillHere"))
        # `why` is the controller's answer, `what-if` the command's, with the kubeconfig's rights.
        page.click(".tile:not(.coming)")
        page.until("document.querySelector('#answer .headline')")
        page.click("#close")
        page.click("#change")
        page.write("zone-out test-zone-a")
        page.click("#what-if-form button")
        page.until("inPage.texts('#what-if-answer pre')[0]?.includes('Looked')", 60)
        self.assertEqual(page.problems, [])

        self.assertEqual(opened.program.end(signal.SIGINT), 0, opened.program.said)
        self.assertIn("Ctrl-C ends it", opened.program.said)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", opened.port), 5).close()
        page.until("document.getElementById('live').classList.contains('stale')")
        page.problems.clear()  # it says that nobody answers, and that is so

    def test_with_a_token_only_there_is_no_what_if_and_the_reason_is_said(self):
        cluster = small_cluster()
        token = cluster.folder / "token"
        token.write_text(cluster.token, encoding="utf-8")
        page = self.open(self.start("--token-file", token))
        page.until("inPage.shown().tiles.length")
        page.click("#change")
        page.write("zone-out test-zone-a")
        page.click("#what-if-form button")
        self.assertIn("--token-file",
                      page.until("inPage.texts('#what-if-answer .problem')[0]"))
        page.problems = [each for each in page.problems if "/what-if?" not in each]

    def test_who_may_not_ask_and_a_port_that_is_taken_are_told_at_once(self):
        cluster = small_cluster()
        forged = cluster.folder / "forged"
        forged.write_text("forged", encoding="utf-8")
        refused = cluster.run("console", *cluster.server_options(), "--token-file", forged)
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn("answers 401", refused.stdout)
        taken = self.start()
        again = cluster.run("console", *cluster.server_options(), "--port", str(taken.port))
        self.assertEqual(again.returncode, 2, again.stdout)
        self.assertIn(f"127.0.0.1:{taken.port}", again.stdout)

    def test_the_first_paint_is_measured_through_the_command(self):
        opened = self.start()
        page = Page(browser(), opened.console)
        self.addCleanup(page.close)
        paint = page.until(
            "(performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime")
        print(f"  first contentful paint through `millwright console`: {paint:.0f} ms", flush=True)


class Answers(unittest.TestCase):
    def ask(self, *words, status: int = 0) -> str:
        told = small_cluster().run(*words)
        self.assertEqual(told.returncode, status, told.stdout)
        return told.stdout

    def test_why_says_the_same_of_the_running_sandbox_and_of_its_record(self):
        cluster = small_cluster()
        running = [each for each in cluster.list("Pod") if each["spec"].get("nodeName")]
        stuck = [each for each in cluster.list("Pod")
                 if each["metadata"]["name"].startswith("stuck-")]
        node = running[0]["spec"]["nodeName"]
        asked = {
            f"shop/{stuck[0]['metadata']['name']}": ("pod", "has no place", "Change"),
            "{namespace}/{name}".format(**running[0]["metadata"]): ("pod", "was bought", "Next"),
            node: ("node", "Node " + node, "Bought"),
            "brief": ("nodepool", "removal that saves", "Decided, newest first:"),
        }
        for name, (kind, *wanted) in asked.items():
            with self.subTest(name):
                told = self.ask("why", kind, name, *cluster.server_options())
                for each in wanted:
                    self.assertIn(each, told)
                self.assertEqual(told.splitlines()[0],
                                 self.ask("why", kind, name, "--decisions",
                                          cluster.decision_log).splitlines()[0])
        self.assertIn("Next", self.ask("why", "pod", "shop/none", *cluster.server_options(),
                                       status=1))

    def test_top_shows_what_the_console_shows(self):
        cluster = small_cluster()
        told = self.ask("top", "--once", *cluster.server_options())
        for node in cluster.cluster()["nodes"]:
            self.assertIn(node["name"], told)
        self.assertRegex(told, r"shop/stuck-\S+ +2 .*s390x")
        alone = json.loads(self.ask("top", "-o", "json", "--pool", "late",
                                    *cluster.server_options()))
        self.assertEqual({node["nodePool"] for node in alone["nodes"]}, {"late"})

    def test_what_if_answers_each_change(self):
        cluster = small_cluster()
        listed = everything(cluster)
        files = cluster.folder / "cluster.json"
        files.write_text(json.dumps(listed), encoding="utf-8")
        pool = next(each for each in listed["items"]
                    if each["kind"] == "NodePool" and each["metadata"]["name"] == "shop")
        node = next(each for each in listed["items"] if each["kind"] == "Node"
                    and each["metadata"]["labels"].get("karpenter.sh/nodepool") == "shop")
        labels = node["metadata"]["labels"]
        pool["spec"]["template"]["metadata"] = {"labels": {"team": "shop"}}
        edited = cluster.folder / "edited.json"
        edited.write_text(json.dumps(pool), encoding="utf-8")
        for change, wanted in {
            ("drain", node["metadata"]["name"]): "Moved:",
            ("price", labels["node.kubernetes.io/instance-type"] + "=9.5"): "Looked",
            ("scale", "deployment/web=40", "-n", "shop"): "Bought:",
            ("zone-out", labels["topology.kubernetes.io/zone"]): "zone out",
            ("apply", "-f", edited): "drifted",
        }.items():
            with self.subTest(change[0]):
                told = self.ask("what-if", "-f", files, *change)
                self.assertIn("without the changes", told)
                self.assertIn(wanted, told)


class Terminal:
    """A terminal of 80 columns and 24 rows with a program in it."""

    def __init__(self, *words, kubeconfig):
        self.ours, self.its = pty.openpty()
        fcntl.ioctl(self.its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(self.its)
        self.shown = b""
        self.process = subprocess.Popen(
            [PROGRAM, *words], stdin=self.its, stdout=self.its, stderr=self.its,
            start_new_session=True, env=os.environ | {"KUBECONFIG": str(kubeconfig)},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def read_until(self, holds, seconds: float = 30):
        end = time.monotonic() + seconds
        while not holds():
            ready, _, _ = select.select([self.ours], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"not within {seconds} s; shown: {self.shown!r}")
            self.shown += os.read(self.ours, 1 << 16)

    def frames(self) -> list:
        """Each as its lines; the last may be half drawn and is left out."""
        return [re.split(r"\x1b\[K\r+\n", frame)[:-1]
                for frame in self.shown.decode().split("\x1b[H")[1:-1]]

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.its)


class TopOnATerminal(unittest.TestCase):
    def check(self, key: bytes):
        cluster = small_cluster()
        terminal = Terminal("top", "--interval", "0.5", *cluster.server_options(),
                            kubeconfig=cluster.kubeconfig)
        self.addCleanup(terminal.close)
        terminal.read_until(lambda: len(terminal.frames()) >= 2)
        for frame in terminal.frames():
            self.assertLessEqual(len(frame), 24)
            for line in frame:
                self.assertLessEqual(len(line), 80, line)
            self.assertIn("NODEPOOL", "\n".join(frame))
        os.write(terminal.ours, key)
        terminal.read_until(lambda: terminal.shown.endswith(b"\x1b[?25h\x1b[?1049l"))
        self.assertEqual(terminal.process.wait(20), 0)
        self.assertEqual(termios.tcgetattr(terminal.its), terminal.before)

    def test_q_ends_it_and_leaves_the_terminal_as_it_was(self):
        self.check(b"q")

    def test_ctrl_c_does_so_too(self):
        self.check(b"\x03")


class RealTime(unittest.TestCase):
    """What runs beside a cluster has the clock of this machine, so the sandbox keeps to it."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = sandbox(speed=1)
        cls.cluster.create(node_class("quick", "1s"))

    def come(self, name: str):
        # In a NodePool of their own: nodes that other tests have left would do.
        self.cluster.create(node_pool(name))
        self.cluster.create(deployment("default", name, 6, pod_spec("1", **pool_of(name))))
        self.addCleanup(self.cluster.scale, "default", name, 0)

        def all_run():
            running = [each for each in self.cluster.list("Pod")
                       if each["metadata"]["name"].startswith(name + "-")
                       and each["status"].get("phase") == "Running"]
            self.assertEqual(len(running), 6)

        eventually(all_run)

    def test_a_recording_is_replayed(self):
        day = self.cluster.folder / "day.jsonl"
        recorder = self.cluster.start("record", "--output", day, "--hash-names")
        self.addCleanup(lambda: recorder.process.returncode is not None or recorder.end())
        recorder.await_line("(Everything is listed)")
        self.come("recorded")
        self.assertEqual(recorder.end(signal.SIGINT), 0, recorder.said)
        self.assertIn("until it was stopped", recorder.said)
        self.assertIn(f"Next: millwright replay {day}", recorder.said)
        self.assertNotIn('"recorded', day.read_text(encoding="utf-8"))
        told = self.cluster.run("replay", day)
        self.assertEqual(told.returncode, 0, told.stdout)
        self.assertRegex(told.stdout, r"Replayed \S+ from ")
        self.assertRegex(told.stdout, r"pods that came +6 +6")

    def test_a_shadow_tells_what_it_would_have_done(self):
        shadow = self.cluster.start("controller", "--shadow", "--decision-log", "-",
                                    "--bind-address", "127.0.0.1",
                                    "--metrics-port", free_port(), "--health-probe-port",
                                    free_port(), "--shadow-report-interval", "1s",
                                    "--kubeconfig", self.cluster.kubeconfig)
        self.addCleanup(lambda: shadow.process.returncode is not None or shadow.end())
        shadow.await_line("(the shadow has begun)")
        self.come("shadowed")
        shadow.await_line('"decision":"(purchase)"')
        shadow.await_line('("pods-waiting":"0","cluster-pods-waiting":"0")')
        self.assertEqual(shadow.end(), 0, shadow.said)
        self.assertIn("nothing was bought and nothing written", shadow.said)
        self.assertIn("It would have bought:", shadow.said)


if __name__ == "__main__":
    unittest.main()
