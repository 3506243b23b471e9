# SPDX-License-Identifier: MIT
"""Firefox, driven by Marionette, its own protocol: no driver is needed beside it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

_SECONDS = 60


def firefox_path() -> str | None:
    """The program; None where it is not installed."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """A context manager: Firefox without a window, with a profile of its own in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._number = 0
        self._buffer = b""

    def __enter__(self) -> Firefox:
        path = firefox_path()
        assert path is not None
        self._folder.mkdir(parents=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        preferences = f'user_pref("marionette.port", {port});\n'
        (self._folder / "user.js").write_text(preferences)
        command = [
            path,
            "--headless",
            "--marionette",
            "--no-remote",
            "--profile",
            str(self._folder),
        ]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._socket = self._connect(port)
            self._read()  # its description of itself
            self.command("WebDriver:NewSession", {})
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_problem: object) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _connect(self, port: int) -> socket.socket:
        end = time.monotonic() + _SECONDS
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=_SECONDS)
            except OSError:
                assert time.monotonic() < end, "Firefox did not start"
                time.sleep(0.2)

    def _read(self) -> Any:
        """A message: its length, a colon, JSON."""
        while b":" not in self._buffer:
            self._receive()
        length, _, rest = self._buffer.partition(b":")
        self._buffer = rest
        while len(self._buffer) < int(length):
            self._receive()
        data, self._buffer = self._buffer[: int(length)], self._buffer[int(length) :]
        return json.loads(data)

    def _receive(self) -> None:
        data = self._socket.recv(1 << 16)
        assert data, "Firefox has ended"
        self._buffer += data

    def command(self, name: str, parameters: dict[str, Any]) -> Any:
        """What a command returns."""
        self._number += 1
        message = json.dumps([0, self._number, name, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, number, problem, result = self._read()
        assert number == self._number
        assert problem is None, problem
        return result

    def open(self, page: Path) -> None:
        """Load a file."""
        self.command("WebDriver:Navigate", {"url": page.resolve().as_uri()})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        found = self.command("WebDriver:ExecuteScript", {"script": script, "args": list(arguments)})
        return found["value"]
