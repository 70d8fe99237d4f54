"""The console is for everybody: by keyboard alone, with a screen reader, on a dark and on a light
screen, narrow and wide. Pictures of it are left in build/console."""
import unittest

from program import REPOSITORY
from scene import ConsoleTest, small_cluster

PICTURES = REPOSITORY / "build" / "console"
WIDTHS = (480, 1280)
TEXT_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
FRAME_CONTRAST = 3.0  # 1.4.11: frames of fields, the ring around what has the focus
INTERACTIVE = {"button", "link", "textbox", "searchbox", "checkbox", "radio", "combobox", "slider",
               "switch", "tab", "menuitem", "option"}
HEADLINE = "document.querySelector('#answer .headline')"
OPEN = "document.getElementById('answer').open"


class Keyboard(ConsoleTest):
    def setUp(self):
        self.page = self.open(small_cluster())
        self.page.until("inPage.shown().waiting.length && inPage.shown().tiles.length")

    def focused(self) -> dict:
        found = self.page.evaluate("inPage.focused()")
        self.assertIsNotNone(found, "nothing has the focus")
        return found

    def tab_to(self, start: str, shift: bool = False) -> dict:
        for _ in range(200):
            self.page.press("Tab", shift)
            found = self.page.evaluate("inPage.focused()")
            if found and found["who"].startswith(start):
                return found
        raise AssertionError(f"Tab does not come to {start}")

    def test_tab_comes_to_everything_and_each_shows_that_it_has_the_focus(self):
        wanted = set(self.page.evaluate("inPage.reachable()"))
        come = []
        for _ in range(300):
            self.page.press("Tab")
            found = self.page.evaluate("inPage.focused()")
            if found is None or (come and found["who"] == come[0]["who"]):
                break
            come.append(found)
        self.assertEqual(come[0]["who"], "a Skip to the nodes")
        self.assertLessEqual(wanted, {each["who"] for each in come})
        tiles = {"button " + tile["label"] for tile in self.page.evaluate("inPage.shown().tiles")}
        self.assertEqual(len(tiles & {each["who"] for each in come}), 1, "arrow keys go on")
        for each in come:
            self.assertTrue(each["ringed"], each)
            self.assertGreaterEqual(each["contrast"], FRAME_CONTRAST, each)

    def test_a_node_is_found_asked_about_and_left_by_keys(self):
        page = self.page
        tiles = [tile["label"] for tile in page.evaluate("inPage.shown().tiles")]
        self.tab_to("button " + tiles[0])
        page.press("ArrowRight")
        self.assertEqual(self.focused()["who"], "button " + tiles[1])
        page.press("ArrowLeft")
        page.press("End")
        self.assertEqual(self.focused()["who"], "button " + tiles[-1])
        page.press("ArrowUp")
        self.assertNotEqual(self.focused()["who"], "button " + tiles[-1])
        page.press("ArrowDown")
        page.press("Home")
        chosen = next(i for i, tile in enumerate(tiles) if ", Ready," in tile)
        for _ in range(chosen):
            page.press("ArrowRight")
        page.press("Enter")
        page.until(HEADLINE)
        self.assertTrue(page.evaluate(OPEN))
        self.tab_to("button What if it were drained?")
        page.press("Enter")
        page.until("inPage.texts('#answer pre').length")
        self.assertEqual(self.focused()["who"], "button What if it were drained?")
        self.tab_to("pre What would happen")
        self.tab_to("button#close Close", shift=True)
        page.press("Escape")
        page.until("!" + OPEN)
        self.assertEqual(self.focused()["who"], "button " + tiles[chosen])

    def test_what_if_and_the_table_by_keys(self):
        page = self.page
        self.tab_to("input#change")
        page.write("zone-out test-zone-a")
        page.press("Enter")
        page.until("inPage.texts('#what-if-answer pre')[0]?.includes('Looked')", 60)
        self.tab_to("input tiles", shift=True)
        page.press("ArrowRight")
        self.tab_to("button $ an hour")
        page.press("Enter")
        self.assertEqual(page.evaluate("document.querySelector('[data-key=price]').ariaSort"),
                         "descending")
        self.tab_to("button kwok-")
        page.press(" ")
        page.until(HEADLINE)
        self.tab_to("button#close")
        page.press("Enter")
        page.until("!" + OPEN)
        self.assertIn("button kwok-", self.focused()["who"])

    def test_the_skip_link_goes_to_the_nodes(self):
        self.page.press("Tab")
        self.page.press("Enter")
        self.assertEqual(self.page.evaluate("document.activeElement.id"), "nodes")


class ScreenReader(ConsoleTest):
    def check_names(self, tree: list):
        for node in tree:
            role = node.get("role", {}).get("value")
            if role in INTERACTIVE or role in ("region", "dialog", "img", "navigation"):
                self.assertTrue(node.get("name", {}).get("value", "").strip(), node)

    @staticmethod
    def of_role(tree: list, role: str) -> list:
        return [node.get("name", {}).get("value", "") for node in tree
                if node.get("role", {}).get("value") == role]

    def test_everything_has_a_name_and_a_place(self):
        page = self.open(small_cluster())
        page.until("inPage.shown().waiting.length && inPage.shown().tiles.length")
        tree = page.accessibility_tree()
        self.check_names(tree)
        for role in ("banner", "main", "navigation"):
            self.assertEqual(len(self.of_role(tree, role)), 1, role)
        self.assertEqual(self.of_role(tree, "RootWebArea"), ["Millwright console"])
        self.assertLessEqual({"Nodes", "Pods that wait", "Decisions", "What if"},
                             set(self.of_role(tree, "region")))
        self.assertIn("Nodes of NodePool shop", self.of_role(tree, "list"))
        live = [node for node in tree for each in node.get("properties", [])
                if each["name"] == "live" and each["value"]["value"] == "polite"]
        self.assertTrue(live, "updates are not told")
        levels = [each["value"]["value"] for node in tree for each in node.get("properties", [])
                  if node.get("role", {}).get("value") == "heading" and each["name"] == "level"]
        self.assertEqual(levels.count(1), 1)
        self.assertTrue(all(below - above <= 1 for above, below in zip(levels, levels[1:])), levels)

        page.click(".tile:not(.coming)")
        page.until(HEADLINE)
        page.click("#answer-body > button")
        page.until("inPage.texts('#answer pre').length")
        tree = page.accessibility_tree()
        self.check_names(tree)
        self.assertEqual(len(self.of_role(tree, "dialog")), 1)
        # What is behind the dialog is out of reach.
        self.assertNotIn("Look ahead", self.of_role(tree, "button"))

    def test_whether_it_is_live_is_said_once_and_not_each_second(self):
        page = self.open(small_cluster())
        self.assertEqual(page.until("document.getElementById('said').textContent"), "Live")
        page.evaluate("window.before = document.getElementById('live-text').textContent")
        page.until("document.getElementById('live-text').textContent !== before")
        around = "document.getElementById('live').closest('[aria-live], [role=status]')"
        self.assertIsNone(page.evaluate(around))


class Looks(ConsoleTest):
    def test_it_fits_and_can_be_read_light_and_dark_narrow_and_wide(self):
        page = self.open(small_cluster())
        page.until("inPage.shown().waiting.length && inPage.shown().tiles.length")
        self.look_at(page, "tiles", whole=True)
        page.click("input[value=table]")
        self.look_at(page, "table", whole=True)
        page.click("input[value=tiles]")
        page.evaluate("document.getElementById('change').value = 'zone-out test-zone-a'")
        page.click("#what-if-form button")
        page.until("inPage.texts('#what-if-answer pre').length", 60)
        self.look_at(page, "what-if", at="#what-if")
        page.click(".tile:not(.coming)")
        page.until(HEADLINE)
        self.look_at(page, "why", at="#answer-title")
        page.click("#answer-body > button")
        page.until("inPage.texts('#answer pre').length", 60)
        self.look_at(page, "why-what-if", at="#answer pre")

    def look_at(self, page, what: str, whole: bool = False, at: str = "body"):
        for width in WIDTHS:
            for dark in (False, True):
                name = f"{what}-{width}-{'dark' if dark else 'light'}"
                with self.subTest(name):
                    page.look(width, dark=dark)
                    if whole:
                        height = page.evaluate("document.documentElement.scrollHeight")
                        page.look(width, height, dark)
                    page.evaluate(f"document.querySelector('{at}').scrollIntoView()")
                    page.picture(PICTURES / (name + ".png"))
                    self.check(page)
        page.look(WIDTHS[-1])

    def check(self, page):
        for text in page.evaluate("inPage.textContrasts()"):
            self.assertGreaterEqual(text["ratio"], TEXT_CONTRAST, text)
        for field in page.evaluate("inPage.fieldContrasts()"):
            self.assertGreaterEqual(field["ratio"], FRAME_CONTRAST, field)
        self.assertEqual(page.evaluate("inPage.beyondTheEdge()"),
                         {"scrolls": False, "beyond": []})


if __name__ == "__main__":
    unittest.main()
