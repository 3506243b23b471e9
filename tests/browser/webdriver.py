# SPDX-License-Identifier: MIT
"""A browser, driven through chromedriver by the W3C WebDriver protocol."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

#: Keys as the protocol has them.
ENTER, ESCAPE = "\ue007", "\ue00c"

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_SECONDS = 60

#: Calls back after the frame after the first contentful paint.
_DRAWN = """
const done = arguments[0];
const wait = () => requestAnimationFrame(() => {
    const painted = performance.getEntriesByName("first-contentful-paint").length > 0;
    if (painted) setTimeout(done, 0); else wait();
});
wait();
"""

#: Without the network: nothing that a browser does of itself.
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def missing_programs() -> list[str]:
    """Which of the programs that are needed are not installed."""
    return [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]


class Browser:
    """One window; a context manager. ``folder``: an empty one for the browser's own files."""

    def __init__(self, folder: Path, scripts: bool = True) -> None:
        self._folder = folder
        self._scripts = scripts
        self._driver: subprocess.Popen[str] | None = None
        self._session = ""

    def __enter__(self) -> Browser:
        self._folder.mkdir()
        log = self._folder / "driver.log"
        with open(log, "w") as output:
            self._driver = subprocess.Popen(
                ["chromedriver", "--port=0"], stdout=output, stderr=output, text=True
            )
        try:
            self._address = f"http://127.0.0.1:{self._port(log)}"
            options: dict[str, Any] = {
                "binary": shutil.which("chromium"),
                "args": [*_FLAGS, f"--user-data-dir={self._folder / 'profile'}"],
            }
            if not self._scripts:
                options["prefs"] = {"profile.managed_default_content_settings.javascript": 2}
            wanted = {
                "browserName": "chrome",
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL"},
            }
            session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self._session = f"/session/{session['sessionId']}"
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_problem: object) -> None:
        assert self._driver is not None
        try:
            if self._session:
                self._command("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=_SECONDS)

    def _port(self, log: Path) -> int:
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            found = re.search(r"started successfully on port (\d+)", log.read_text())
            if found:
                return int(found[1])
            time.sleep(0.05)
        raise TimeoutError(f"chromedriver did not start: {log.read_text()}")

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._address + path, data, {"Content-Type": "application/json"}, method=method
        )
        # no proxy, whatever the environment says
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=_SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as problem:
            raise AssertionError(f"{method} {path}: {problem.read().decode()}") from None

    def _command(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return self._call(method, self._session + path, body)

    # -- what tests do --------------------------------------------------------------------------

    def open(self, page: Path) -> None:
        """Load a file, and wait until it is drawn: before that, Chromium drops what is typed."""
        self._command("POST", "/url", {"url": page.resolve().as_uri()})
        self.devtools("Emulation.setFocusEmulationEnabled", {"enabled": True})
        if self._scripts:
            self._command("POST", "/execute/async", {"script": _DRAWN, "args": []})

    def resize(self, width: int, height: int) -> None:
        """The size of the page's window in pixels, narrower than a real window may be."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, scheme: str) -> None:
        """``light`` or ``dark``."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.devtools("Emulation.setEmulatedMedia", {"features": [feature]})

    def devtools(self, command: str, parameters: dict[str, Any]) -> Any:
        """A command of Chromium's own protocol."""
        return self._command("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self._command("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait_for(self, script: str) -> Any:
        """The value that a script passes to its callback."""
        return self._command("POST", "/execute/async", {"script": script, "args": []})

    def find(self, selector: str) -> list[str]:
        """The elements of a CSS selector."""
        found = self._command("POST", "/elements", {"using": "css selector", "value": selector})
        return [element[_ELEMENT] for element in found]

    def text(self, element: str) -> str:
        """The text of an element as it is shown."""
        return str(self._command("GET", f"/element/{element}/text"))

    def is_displayed(self, element: str) -> bool:
        """Whether it can be seen."""
        return bool(self._command("GET", f"/element/{element}/displayed"))

    def click(self, selector: str) -> None:
        """Click on the first element of a selector."""
        self._command("POST", f"/element/{self.find(selector)[0]}/click", {})

    def press(self, keys: str) -> None:
        """Press keys one after the other, on the focused element."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self._command("POST", "/actions", {"actions": [source]})

    def messages(self) -> list[str]:
        """The console's messages since the last call: errors, refusals, output of scripts."""
        found = self._command("POST", "/se/log", {"type": "browser"})
        return [f"{entry['level']} {entry['message']}" for entry in found]

    def screenshot(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(self._command("GET", "/screenshot"))
