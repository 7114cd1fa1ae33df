"""Chromium without a window, over its DevTools protocol: what the tests and the pictures of the page need of it."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import tempfile
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from websockets.sync.client import connect

PROGRAM = "chromium"
PATIENCE = 120.0
LARGEST = 64 << 20
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # the pages are our own, and CI is root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
)
LISTENS = "DevTools listening on "
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " ")}
"""The code and the text of each key that is pressed here."""

WAIT = """new Promise((resolve, reject) => {
  const began = Date.now();
  (function look() {
    if (%s) resolve(true);
    else if (Date.now() - began > %d) reject(new Error("it never came: " + document.body.innerText.slice(0, 2000)));
    else setTimeout(look, 20);
  })();
})"""


class ChromiumError(Exception):
    """The browser is missing, or has refused a command."""


class Chromium:
    """A browser with a profile of its own, for as long as a `with` block."""

    def __enter__(self) -> Self:
        path = shutil.which(PROGRAM)
        if path is None:
            raise ChromiumError(f"there is no {PROGRAM}: scripts/install-tools installs it")
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process = subprocess.Popen(  # noqa: S603 - Debian's program, with our own words
            [path, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._ends = ExitStack()
        link = connect(self._address(), max_size=LARGEST, compression=None, open_timeout=PATIENCE)
        self._link = self._ends.enter_context(link)
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []
        """What the pages have reported, in order."""
        return self

    def _address(self) -> str:
        lines = []
        for line in self._process.stderr or ():
            if line.startswith(LISTENS):
                return line.removeprefix(LISTENS).strip()
            lines.append(line)
        raise ChromiumError(f"{PROGRAM} has ended: {''.join(lines)[-2000:]}")

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, place: TracebackType | None
    ) -> None:
        self._ends.close()
        self._process.kill()
        self._process.wait(PATIENCE)
        if self._process.stderr is not None:
            self._process.stderr.close()
        self._profile.cleanup()

    def send(self, method: str, session: str = "", **params: object) -> dict[str, Any]:
        """Carry a command out, and return its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        self._link.send(json.dumps(message))
        while True:
            told = json.loads(self._link.recv(PATIENCE))
            if told.get("id") != number:
                self.events.append(told)
                continue
            if "error" in told:
                raise ChromiumError(f"{method}: {told['error']['message']}")
            result: dict[str, Any] = told["result"]
            return result

    def open(
        self,
        url: str,
        *,
        width: int = 1280,
        height: int = 900,
        is_dark: bool = False,
        scale: float = 1,
        has_cookies: bool = False,
    ) -> Tab:
        """Open a page in a window of its own; with cookies of its own where the page has any, which takes longer."""
        own = {"browserContextId": self.send("Target.createBrowserContext")["browserContextId"]} if has_cookies else {}
        target = self.send("Target.createTarget", url="about:blank", **own)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.send(f"{domain}.enable")
        tab.look(width, height, is_dark=is_dark, scale=scale)
        tab.send("Page.navigate", url=url)
        tab.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")
        return tab


class Tab:
    """One page."""

    def __init__(self, browser: Chromium, session: str, target: str) -> None:
        self._browser, self._session, self._target = browser, session, target

    def send(self, method: str, **params: object) -> dict[str, Any]:
        """Carry a command out in this page."""
        return self._browser.send(method, self._session, **params)

    def look(self, width: int, height: int, *, is_dark: bool = False, scale: float = 1) -> None:
        """Have a screen of another size and another scheme of colours, without loading the page again."""
        is_phone = width < 500
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=is_phone
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - whatever the page says
        """The value of an expression, awaited if it is a promise."""
        told = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            fault = told["exceptionDetails"]
            raise ChromiumError(fault.get("exception", {}).get("description", fault["text"]))
        return told["result"].get("value")

    def wait_for(self, condition: str, seconds: float = PATIENCE / 2) -> None:
        """Return when a condition holds; raises `ChromiumError` if it never does."""
        for attempt in itertools.count():
            try:
                self.evaluate(WAIT % (condition, 1_000 * seconds))
            except ChromiumError as problem:
                if "context was destroyed" not in str(problem) and "Inspected target" not in str(problem):
                    raise
                if attempt:
                    raise
            else:
                return

    def text(self, selector: str) -> str:
        """The text of an element."""
        found: str = self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")
        return found

    def press(self, key: str) -> None:
        """Press a key."""
        code, text = KEYS[key]
        named = {"key": key, "windowsVirtualKeyCode": code, "code": "Space" if key == " " else key}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **named)
        self.send("Input.dispatchKeyEvent", type="keyUp", **named)

    def picture(self, *, is_whole: bool = False, scale: float = 1) -> bytes:
        """The page as PNG: what the window shows, or all of it."""
        size = self.send("Page.getLayoutMetrics")["cssContentSize" if is_whole else "cssLayoutViewport"]
        width, height = (size.get(name, size.get(f"client{name.title()}")) for name in ("width", "height"))
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
        told = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=is_whole, clip=clip)
        return base64.b64decode(told["data"])

    def events(self, method: str) -> list[dict[str, Any]]:
        """What this page has reported of a kind."""
        found = [each for each in self._browser.events if each.get("sessionId") == self._session]
        return [each["params"] for each in found if each["method"] == method]

    def close(self) -> None:
        """Close the page."""
        self._browser.send("Target.closeTarget", targetId=self._target)
