"""What the console shows is what the program answers; it keeps up without being loaded again; names
and messages of other people are text; the page is small, quick and asks nobody else."""
import json
import math
import statistics
import unittest

from browser import Page
from program import Refused, deployment, eventually, node_pool, pod, pod_spec, pool_of
from scene import ConsoleTest, browser, sandbox, small_cluster

MOST_BYTES = 150_000
LOADS = 5
HOSTILE = '<img src=x onerror="window.hacked = 1">'
WORDS = {"purchase": "Bought", "removal": "Removed", "taken-back": "Taken back",
         "refusal": "Refused"}


def money(amount: float) -> str:
    return f"${amount:.{4 if abs(amount) < 100 else 2}f}"


def count(amount: int, thing: str) -> str:
    return f"{amount} {thing}" + ("" if amount == 1 else "s")


def percent(part: float, whole: float) -> str:
    return f"{math.floor(part / whole * 100 + 0.5) if whole else 0}%"


def label_of(node: dict) -> str:
    """What a screen reader says of a tile."""
    words = [node["name"], node["state"], node["instanceType"], count(node["pods"], "pod"),
             "CPU " + percent(node["cpuRequested"], node["cpu"]),
             "memory " + percent(node["memoryRequested"], node["memory"])]
    if node["podsReserved"]:
        words.append("room kept for " + count(node["podsReserved"], "pod"))
    words.append(money(node["pricePerHour"]) + " an hour")
    return ", ".join(words)


class Content(ConsoleTest):
    def setUp(self):
        self.cluster = small_cluster()
        self.page = self.open(self.cluster)

    def compare(self, check):
        """Both are asked one after the other, so that they may differ for a moment."""
        eventually(lambda: check(self.page.evaluate("inPage.shown()"), self.cluster.cluster()), 20)

    def test_each_node_is_a_tile_with_its_pods_as_blocks_and_its_kept_room_hatched(self):
        def check(shown, cluster):
            nodes = cluster["nodes"]
            self.assertGreaterEqual(len(nodes), 2)
            self.assertEqual(sorted(tile["label"] for tile in shown["tiles"]),
                             sorted(map(label_of, nodes)))
            tiles = {tile["label"].split(",")[0]: tile for tile in shown["tiles"]}
            for node in nodes:
                tile = tiles[node["name"]]
                self.assertEqual(tile["blocks"], node["pods"])
                self.assertEqual(tile["hatched"], 1 if node["podsReserved"] else 0)
                self.assertEqual("coming" in tile["classes"], node["state"] == "Coming")
            self.assertIn("Coming", {node["state"] for node in nodes})
            self.assertEqual(sum(node["podsReserved"] for node in nodes), 3)

        self.compare(check)

    def test_totals_and_prices_add_up(self):
        def check(shown, cluster):
            nodes = cluster["nodes"]
            price = sum(node["pricePerHour"] for node in nodes)
            saved = sum(each.get("saved", 0) for each in self.cluster.decisions()
                        if each["decision"] == "removal")
            self.assertEqual(shown["totals"], {
                "Price": money(price) + " an hour",
                "Nodes": str(len(nodes)),
                "Pods on nodes": str(sum(node["pods"] for node in nodes)),
                "Pods with room kept": str(sum(node["podsReserved"] for node in nodes)),
                "Pods waiting": str(cluster["podsWaiting"]),
                "Removals on record save": money(saved) + " an hour",
            })
            for name in ("shop", "late"):
                of_pool = [node for node in nodes if node["nodePool"] == name]
                price = money(sum(node["pricePerHour"] for node in of_pool))
                self.assertEqual(shown["pools"]["NodePool " + name],
                                 f"{count(len(of_pool), 'node')}, {price} an hour")

        self.compare(check)

    def test_pods_that_wait_are_there_with_the_reason(self):
        def check(shown, cluster):
            rows = [[row[0], row[1], row[3]] for row in shown["waiting"]]
            wanted = [[row["pod"], str(row["pods"]), row["why"]] for row in cluster["waiting"]]
            self.assertEqual(rows, wanted)
            stuck = [row for row in rows if row[0].startswith("shop/stuck-")]
            self.assertEqual([row[1] for row in stuck], ["2"])
            self.assertIn("s390x", stuck[0][2])

        self.compare(check)

    def test_decisions_are_there_the_newest_first(self):
        def check(shown, _):
            decided = [each for each in self.cluster.decisions() if each["decision"] in WORDS]
            self.assertEqual([each["kind"] for each in shown["decisions"]],
                             [WORDS[each["decision"]] for each in reversed(decided)])
            for item, decision in zip(shown["decisions"], reversed(decided)):
                self.assertIn(" ".join(decision["message"].split()), item["what"])

        self.compare(check)
        self.page.click("#kinds input[value=removal]")
        left = self.page.evaluate("inPage.shown().decisions")
        self.assertNotIn("Removed", {each["kind"] for each in left})
        self.assertIn("Bought", {each["kind"] for each in left})

    def test_the_table_has_the_same_nodes_and_sorts(self):
        self.page.click("input[value=table]")
        cells = "inPage.texts('#node-table tbody tr:not([hidden]) td:nth-child(10)')"
        for direction in (True, False):  # amounts begin with the largest
            self.page.click("th[data-key=price] button")
            prices = [float(cell.strip("$")) for cell in self.page.evaluate(cells)]
            self.assertEqual(prices, sorted(prices, reverse=direction))
        self.assertEqual(len(prices), len(self.page.evaluate("inPage.shown().tiles")))

    def test_find_leaves_what_has_every_word(self):
        self.page.click("#find")
        self.page.write("late coming")
        found = "inPage.texts('#tiles li:not([hidden]) .tile').length"
        self.assertEqual(self.page.evaluate(found), 1)

    def test_a_click_on_a_node_says_why_and_its_pods_and_what_if(self):
        nodes = {each["spec"].get("nodeName") for each in self.cluster.list("Pod")} - {None}
        name = sorted(nodes)[0]
        self.page.click(f".tile[aria-label^='{name}']")
        self.page.until("document.querySelector('#answer .headline')")
        answer = json.loads(self.cluster.ask("/why/node/" + name))
        self.assertEqual(self.page.evaluate("inPage.texts('#answer .headline')[0]"),
                         answer["answer"])
        wanted = {f"{each['metadata']['namespace']}/{each['metadata']['name']}"
                  for each in self.cluster.list("Pod") if each["spec"].get("nodeName") == name}
        self.assertEqual(set(self.page.evaluate("inPage.texts('#answer .pods .ask')")), wanted)
        self.page.click("#answer-body > button")
        self.page.until("inPage.texts('#answer pre').some((text) => text.includes('Looked'))")
        self.page.click("#answer .pods .ask")
        self.page.until("inPage.texts('#answer-title')[0].startsWith('Pod ')")
        self.page.until("document.querySelector('#answer .headline')")
        self.assertIn(self.page.evaluate("inPage.texts('#answer-title')[0]").split()[1], wanted)
        self.page.click("#close")
        self.assertFalse(self.page.evaluate("document.getElementById('answer').open"))

    def test_what_if_answers_and_says_what_it_cannot_read(self):
        self.page.click("#change")
        self.page.write("scale deployment/web=20 -n shop")
        self.page.click("#what-if-form button")
        answer = self.page.until("inPage.texts('#what-if-answer pre')[0]")
        self.assertIn("Looked", answer)
        self.page.evaluate("document.getElementById('change').value = 'nonsense'")
        self.page.click("#what-if-form button")
        self.assertIn("nonsense", self.page.until("inPage.texts('#what-if-answer .problem')[0]"))
        # The browser notes the status 400, which is the answer here.
        self.page.problems = [each for each in self.page.problems if "/what-if?" not in each]


class Live(ConsoleTest):
    def test_pods_and_nodes_come_without_loading_and_the_focus_stays(self):
        cluster = small_cluster()
        page = self.open(cluster)
        page.evaluate("window.stillHere = true")
        page.until("inPage.shown().waiting.length")
        before = page.evaluate("inPage.shown().tiles.length")
        page.evaluate("document.querySelector('#waiting-table .ask').focus()")
        focused = page.evaluate("inPage.focused().who")
        cluster.create(deployment("pay", "batch", 6, pod_spec("3", **pool_of("brief"))))
        self.addCleanup(cluster.scale, "pay", "batch", 0)
        page.until(f"inPage.shown().tiles.length > {before}")
        page.until("inPage.shown().tiles.filter((tile) => "
                   "tile.classes.includes('coming')).length === 1")
        self.assertEqual(page.evaluate("inPage.focused().who"), focused)
        self.assertTrue(page.evaluate("window.stillHere"))
        page.until("document.getElementById('said').textContent.includes('NodeClaim')")

    def test_the_focus_goes_on_from_a_tile_that_goes(self):
        page = self.open(small_cluster())
        page.until("nodes.size > 1")
        # All nodes go in the picture in which others come, as with the first node of a cluster.
        focused = page.evaluate("""(() => {
            document.querySelector(".tile").focus();
            const old = [...nodes.values()].map((entry) => entry.data);
            const others = old.map((data) => ({...data, name: "other-" + data.name}));
            const gone = old.map((data) => data.name);
            take({time: new Date(now).toISOString(), nodes: others, gone}, false);
            const tile = document.activeElement;
            return tile.classList.contains("tile") && tile.isConnected && tile.tabIndex === 0;
        })()""")
        self.assertTrue(focused)

    def test_a_program_that_ended_leaves_the_view_and_the_reason(self):
        cluster = sandbox()
        page = self.open(cluster)
        cluster.close()
        page.until("document.getElementById('live').classList.contains('stale')")
        self.assertIn("does not answer", page.evaluate("inPage.texts('#live')[0]"))
        page.problems.clear()  # it says that nobody answers, and that is so

    def test_names_and_messages_that_hold_html_are_text(self):
        cluster = small_cluster()
        page = self.open(cluster)
        for thing in (node_pool(HOSTILE), pod("shop", HOSTILE, pod_spec("1"))):
            with self.assertRaises(Refused):
                cluster.create(thing)
        cluster.create(node_pool("marked", annotations={"note": HOSTILE}))
        wanted = {"key": "shop", "operator": "In", "values": [HOSTILE]}
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [wanted]}]}}}
        try:
            cluster.create(pod("shop", "marked", pod_spec("1", affinity=affinity),
                               annotations={"note": HOSTILE}))
        except Refused as refusal:
            self.assertIn("values", str(refusal))
        else:
            page.until("inPage.shown().waiting.some((row) => row[0] === 'shop/marked')")
        # And whatever an API server may let through, in every member of a picture.
        fields = ("name", "pool", "type", "zone", "capacity", "state")
        node = {field: HOSTILE for field in fields} | {
            "cpu": 4, "cpuAsked": 2, "memory": 8, "memoryAsked": 2, "podCount": 1, "price": 1,
            "created": "2026-01-01T00:00:00Z", "kept": 1, "keptShare": 100, "keptFor": [HOSTILE],
            "pods": [[HOSTILE + "/" + HOSTILE, 500]]}
        subjects = [{"kind": kind, "namespace": HOSTILE, "name": HOSTILE}
                    for kind in ("Pod", "Node", "NodePool", HOSTILE)]
        decision = {"number": 1, "time": "2026-01-01T00:00:00Z", "kind": "purchase",
                    "message": HOSTILE, "remedy": HOSTILE, "about": subjects}
        totals = {"price": 1, "saved": 1, "nodes": 1, "pods": 1, "kept": 1, "waiting": 1,
                  "pools": [HOSTILE]}
        waiting = {"pod": HOSTILE, "pods": 1, "since": "2026-01-01T00:00:00Z", "why": HOSTILE}
        page.evaluate("source.close()")
        page.evaluate("take(%s, true)" % json.dumps({
            "time": "2026-01-01T00:01:00Z", "totals": totals, "nodes": [node],
            "waiting": [waiting], "decisions": [decision, decision | {"kind": HOSTILE}]}))
        page.click("input[value=table]")
        page.evaluate("document.getElementById('answer-body').replaceChildren("
                      "...nodeParts(nodes.values().next().value.data))")
        page.evaluate("document.getElementById('answer').showModal()")
        self.assertGreaterEqual(page.evaluate("document.body.textContent.split('<img').length"), 12)
        strange = "document.querySelectorAll('img, iframe, object').length"
        self.assertEqual(page.evaluate(strange), 0)
        self.assertEqual(page.evaluate("document.scripts.length"), 1)
        self.assertFalse(page.evaluate("'hacked' in window"))


class Load(ConsoleTest):
    def test_all_that_is_loaded_is_small(self):
        page = self.open(small_cluster())
        files = {url: size for url, size in page.received.items() if not url.endswith("/events")}
        self.assertEqual(len(files), 3, files)
        everything = sum(page.received.values())
        print(f"  loaded: {sum(files.values())} bytes of page, style and script, "
              f"{everything} with the first picture; limit {MOST_BYTES}", flush=True)
        self.assertLess(everything, MOST_BYTES)

    def test_the_first_paint_is_measured(self):
        page = Page(browser(), small_cluster().console)
        self.addCleanup(page.close)
        times = []
        for _ in range(LOADS):
            page.go(small_cluster().console)
            times.append(page.until(
                "(performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime"))
        # How quick a machine is decides no test.
        print(f"  first contentful paint: {statistics.median(times):.0f} ms, the median of {LOADS} "
              f"({min(times):.0f} to {max(times):.0f}); wanted: below 300", flush=True)


if __name__ == "__main__":
    unittest.main()
