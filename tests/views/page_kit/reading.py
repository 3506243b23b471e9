# SPDX-License-Identifier: MIT
"""Reads pages, strictly: every element has to be closed in its turn."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from html.parser import HTMLParser

VOID = {"col", "input", "link", "meta"}


class Document(HTMLParser):
    """Reads a page; every element has to be closed in its turn."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str | None]] = []
        self._parts: list[str] = []
        self.contents: dict[str, str] = {}
        #: Id of a script element with data -> its text.
        self.data: dict[str, str] = {}
        self._open: list[tuple[str, str]] = []
        self.feed(data.decode("utf-8"))
        self.close()
        assert not self._open
        self.text = "".join(self._parts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names))
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            is_data = tag == "script" and "type" in names
            self._open.append((tag, dict(attrs).get("id") or "" if is_data else ""))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        inside, name = self._open[-1] if self._open else ("", "")
        if name:
            self.data[name] = self.data.get(name, "") + data
        elif inside in ("style", "script", "title"):
            self.contents[inside] = self.contents.get(inside, "") + data
        else:
            self._parts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def values(self, name: str) -> list[str]:
        return [value or "" for _, key, value in self.attributes if key == name]


def check_nothing_is_loaded(data: bytes) -> Document:
    """A page that loads nothing and runs nothing but its own script."""
    document = Document(data)
    assert document.tags["script"] == (1 if "script" in document.contents else 0) + len(
        document.data
    )
    assert document.tags["style"] == 1
    assert not document.values("src")
    assert all(value.startswith(("#", "data:")) for value in document.values("href"))
    assert b"url(" not in data
    assert b"@import" not in data
    (policy,) = [value for value in document.values("content") if "default-src" in value]
    assert policy.startswith("default-src 'none'")
    assert "require-trusted-types-for 'script'" in policy
    for kind in ("style", "script"):
        if kind in document.contents:
            digest = hashlib.sha256(document.contents[kind].encode()).digest()
            assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert not document.values("style")  # the policy would refuse them
    assert not [name for _, name, _ in document.attributes if name.startswith("on")]
    return document
