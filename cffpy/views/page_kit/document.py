# SPDX-License-Identifier: MIT
"""A page as a whole: one file with its styles and script, and a policy that allows nothing else.

The content security policy names the digests of the page's own style and script. No other script
runs, nothing is loaded, and scripts cannot turn text into markup (trusted types).
"""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING

from cffpy._version import __version__
from cffpy.views.page_kit.markup import Budget, Markup, element, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.views.page_kit.markup import Child


def document(
    title: str,
    body: Child,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
) -> bytes:
    """The page in UTF-8. ``styles``, ``scripts``: paths of files of this package, in their order.

    The script comes last, so that the markup of ``body`` is shown before it runs.
    """
    return b"".join(pieces(title, body, styles, scripts, ()))


def pieces(
    title: str,
    body: Child,
    styles: Sequence[str],
    scripts: Sequence[str],
    data: Sequence[bytes],
) -> list[bytes]:
    """The page of ``document`` in pieces. ``data``: large elements before the script, in UTF-8."""
    style = _joined((*kit_files("base.css"), *styles))
    script = _joined(scripts)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content=f"cffpy {__version__}"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Markup(style)),
    )
    last = element("script", Markup(script)) if script else ""
    return [
        f'<!doctype html>\n<html lang="en">{head}<body>{join((body,))}'.encode(),
        *data,
        f"{last}</body></html>\n".encode(),
    ]


def section(name: str, heading: str, *content: Child) -> Markup:
    """A section with a heading that names it; ``name`` is its id."""
    title = element("h2", heading, id=f"{name}-heading")
    return element("section", title, content, id=name, aria_labelledby=f"{name}-heading")


def problem_list(problems: Iterable[str], cut: Iterable[str], *notes: str) -> Markup | None:
    """What a page says of damage, and of what was left out; None where there is nothing to say."""
    items = [element("li", text, class_="bad") for text in problems]
    items += [element("li", f"Left out: {text}.") for text in cut]
    items += [element("li", note) for note in notes]
    return element("ul", items, class_="problems") if items else None


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Child]],
    class_: str = "",
    caption: str | None = None,
    budget: Budget | None = None,
) -> Markup:
    """A table that scrolls where it is wider than the page; the first cell of a row heads it.

    ``budget``: where it is spent, the table ends with a note.
    """
    body = []
    for first, *rest in rows:
        if budget is not None and budget.is_spent:
            note = element("td", "More rows are not shown.", colspan=len(headings))
            body.append(element("tr", note))
            break
        row = element(
            "tr", element("th", first, scope="row"), [element("td", cell) for cell in rest]
        )
        body.append(row if budget is None else budget.take(row))
    head = element("tr", [element("th", text, scope="col") for text in headings])
    inner = element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", head),
        element("tbody", body),
        class_=class_ or None,
    )
    label = caption or headings[0]
    return element("div", inner, class_="scroll", tabindex="0", role="group", aria_label=label)


def search_bar(search: Markup, *content: Child) -> Markup:
    """The bar that filters a page: a field for text, then more. The script shows it."""
    return element("form", search, content, class_="toolbar", role="search", hidden=True)


def search_field(id_: str, placeholder: str, label: str, described_by: str | None = None) -> Markup:
    """A field for text to search for. ``described_by``: the id of what says that it is wrong."""
    return element(
        "input",
        type="search",
        id=id_,
        placeholder=placeholder,
        aria_label=label,
        aria_describedby=described_by,
        autocomplete="off",
        spellcheck="false",
    )


def choice(
    id_: str, label: str, everything: str, values: Sequence[str], texts: Sequence[str]
) -> Markup:
    """A list to choose from: texts with their values; first ``everything``, whose value is ""."""
    options = [element("option", everything, value="")]
    options += [
        element("option", text, value=value) for value, text in zip(values, texts, strict=True)
    ]
    return element("select", options, id=id_, aria_label=label)


def footer() -> Markup:
    """What a page ends with: the program that wrote it."""
    return element("footer", element("p", f"cffpy {__version__}"))


def files_of(module: str, *names: str) -> list[str]:
    """Paths of files that lie beside a module, which is given by its ``__file__``."""
    folder = os.path.dirname(os.path.abspath(module))
    return [os.path.join(folder, name) for name in names]


def kit_files(*names: str) -> list[str]:
    """Paths of files of the kit."""
    return files_of(__file__, *names)


def _joined(paths: Sequence[str]) -> str:
    texts = []
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            texts.append(file.read())
    return "\n".join(texts)


def _policy(style: str, script: str) -> str:
    scripts = f"'{_digest(script)}'" if script else "'none'"
    return (
        f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none';"
        f" style-src '{_digest(style)}'; script-src {scripts};"
        f" require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    import hashlib

    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
