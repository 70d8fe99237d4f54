"""Debian's Chromium without a window, over the Chrome DevTools Protocol: its remote-debugging pipe
takes and gives JSON, each message ended by a zero byte. It has a profile of its own, which goes
with it, and reaches nothing but 127.0.0.1."""
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time
import urllib.parse

IN_PAGE = (pathlib.Path(__file__).parent / "in_page.js").read_text(encoding="utf-8")
FLAGS = [
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-sync", "--disable-breakpad", "--disable-domain-reliability", "--no-pings",
    "--metrics-recording-only", "--password-store=basic", "--disable-gpu",
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows", "--force-color-profile=srgb", "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
KEYS = {  # its number, and the text that it types
    "Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), " ": (32, " "), "End": (35, ""),
    "Home": (36, ""), "ArrowLeft": (37, ""), "ArrowUp": (38, ""), "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
}
SHIFT = 8


def moved_up(descriptor: int) -> int:
    """The same file under a number that is not one of those the browser wants."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


class Browser:
    def __init__(self):
        program = shutil.which("chromium")
        if program is None:
            raise RuntimeError("no chromium: ./scripts/setup browser installs Debian's")
        self.profile = tempfile.mkdtemp(prefix="millwright-browser-")
        flags = FLAGS + [f"--user-data-dir={self.profile}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # it does not start for root otherwise
        its_in, self.to_it = map(moved_up, os.pipe())
        self.from_it, its_out = map(moved_up, os.pipe())
        plumbing = (f'exec "$@" 3<&{its_in} 4>&{its_out} {its_in}<&- {its_out}>&-')
        self.log = open(os.path.join(self.profile, "stderr"), "w+b")
        self.process = subprocess.Popen(
            ["bash", "-c", plumbing, "browser", program, *flags, "about:blank"],
            pass_fds=(its_in, its_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=self.log,
            env={"HOME": self.profile, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"})
        os.close(its_in)
        os.close(its_out)
        self.pages = {}  # by session
        self.replies = {}
        self.last = 0
        self.unread = b""
        self.version = self.call("Browser.getVersion")["product"]

    def call(self, method: str, session: str = "", timeout: float = 60, **parameters) -> dict:
        self.last += 1
        number = self.last
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_it, data):]
        end = time.monotonic() + timeout
        while number not in self.replies:
            self.read(end, method)
        reply = self.replies.pop(number)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']['message']}")
        return reply["result"]

    def read(self, end: float, awaited: str):
        """Takes what the browser says next; it must say something before `end`."""
        ready, _, _ = select.select([self.from_it], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            raise TimeoutError(f"the browser does not answer: {awaited}")
        data = os.read(self.from_it, 1 << 20)
        if not data:
            self.log.seek(0)
            raise RuntimeError(f"the browser ended: {self.log.read().decode(errors='replace')}")
        *messages, self.unread = (self.unread + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.replies[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].take(message["method"], message["params"])

    def close(self):
        try:
            self.call("Browser.close", timeout=5)
            self.process.wait(10)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to_it)
        os.close(self.from_it)
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)


class Page:
    """A page in a window of its own, with nothing kept from other pages. `problems` are what a
    developer would see in red or yellow, and whatever was asked of others than `origin`."""

    def __init__(self, browser: Browser, url: str, width: int = 1280, height: int = 900,
                 dark: bool = False):
        self.browser = browser
        self.problems = []
        self.received = {}  # bytes on the wire by address
        self.addresses = {}  # by request
        self.loaded = False
        self.origin = "{0.scheme}://{0.netloc}/".format(urllib.parse.urlsplit(url))
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", newWindow=True,
                              browserContextId=self.context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network", "Audits", "Accessibility"):
            self.call(domain + ".enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=IN_PAGE)
        self.look(width, height, dark)
        self.go(url)

    def call(self, method: str, **parameters) -> dict:
        return self.browser.call(method, self.session, **parameters)

    def take(self, method: str, event: dict):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            said = [str(each.get("value", each.get("description"))) for each in event["args"]]
            self.problems.append(f"console.{event['type']}: {' '.join(said)}")
        elif method == "Log.entryAdded":
            entry = event["entry"]
            self.problems.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}")
        elif method == "Audits.issueAdded":
            self.problems.append(f"issue: {json.dumps(event['issue'])}")
        elif method == "Network.requestWillBeSent":
            url = event["request"]["url"]
            self.addresses[event["requestId"]] = url
            if not url.startswith((self.origin, "data:")):
                self.problems.append(f"asks another: {url}")
        elif method in ("Network.responseReceived", "Network.dataReceived"):
            url = self.addresses.get(event["requestId"], "")
            size = (event["dataLength"] if method == "Network.dataReceived"
                    else event["response"]["encodedDataLength"])
            if not url.startswith("data:"):
                self.received[url] = self.received.get(url, 0) + size

    def go(self, url: str):
        self.loaded = False
        self.call("Page.navigate", url=url)
        end = time.monotonic() + 60
        while not self.loaded:
            self.browser.read(end, "the page's load")

    def evaluate(self, expression: str):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise AssertionError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def until(self, expression: str, seconds: float = 30):
        """Waits until the expression is true in the page, and gives its value."""
        found = self.evaluate(f"inPage.until(() => ({expression}), {seconds * 1000})")
        if found is None:
            raise AssertionError(f"not within {seconds} s: {expression}\n"
                                 f"the page: {self.evaluate('document.body.innerText')[:3000]}")
        return found

    def look(self, width: int, height: int = 900, dark: bool = False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def press(self, key: str, shift: bool = False):
        number, text = KEYS[key]
        common = {"key": key, "code": "Space" if key == " " else key, "modifiers": SHIFT * shift,
                  "windowsVirtualKeyCode": number, "nativeVirtualKeyCode": number}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text,
                  **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, text: str):
        self.call("Input.insertText", text=text)

    def click(self, selector: str):
        """As a person does: with the mouse, in the middle of what is there to see."""
        x, y = self.until(f"inPage.middleOf({json.dumps(selector)})")
        common = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.call("Input.dispatchMouseEvent", type="mousePressed", **common)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **common)

    def accessibility_tree(self) -> list:
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [node for node in nodes if not node["ignored"]]

    def picture(self, path: pathlib.Path):
        path.parent.mkdir(parents=True, exist_ok=True)
        shot = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)
        del self.browser.pages[self.session]
