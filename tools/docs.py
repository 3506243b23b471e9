# SPDX-License-Identifier: MIT
"""Writes the generated parts of the documentation: ``./dev docs``.

These are the reference pages of commands, the reference of the Python interface, the index of
commands, the tables of SQL, the facts of all objects, schemas, lints, two pictures, and the output
of examples: of all pages, or of those that are named. With ``--check`` nothing is written; the exit
code is 1 if something is out of date. With ``--site`` all pages are built as a site, by mkdocs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from cffpy.check.registry import own_lints
from cffpy.index import tables as index_tables
from cffpy.tables.schema import TABLES, Table
from cffpy.views import check, facts
from tools import api_page, command_pages, crash_sample, examples, layers, schema_page

ROOT = Path(__file__).resolve().parent.parent

#: What an index has beside the tables of captures, as far as users ask for it.
_OF_INDEX = (index_tables.FILES, index_tables.VALUES, index_tables.PROGRAMS)


def with_part(text: str, name: str, part: str) -> str:
    """A page with another generated part, which stands between two comments with its name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    above, found, rest = text.partition(begin)
    _, found_end, below = rest.partition(end)
    assert found, name
    assert found_end, name
    return f"{above}{begin}{part}{end}{below}"


def tiles_picture() -> str:
    """The picture of the readme: the tiles of a sample, as ``cffpy tiles --svg`` draws them."""
    with examples.runner() as runner:
        return runner.run(examples.Example("cffpy tiles --svg - a660-frame-binning.rd", "")).output


def tables_text(tables: Iterable[Table]) -> str:
    """Tables of SQL, with the type and meaning of each column."""
    lines: list[str] = []
    for table in tables:
        lines += ["", f"### {table.name}", "", table.meaning, ""]
        lines += ["| column | type | |", "| --- | --- | --- |"]
        for column in table.columns:
            meaning = column.meaning[:1].upper() + column.meaning[1:]
            lines.append(f"| {column.name} | {column.type} | {meaning} |")
    return "".join(f"{line}\n" for line in (*lines[1:], ""))


def generated() -> dict[Path, str]:
    """All files that are generated, or have generated parts other than examples."""
    docs = ROOT / "docs"
    folder = docs / "reference/commands"
    files = {folder / name: text for name, text in command_pages.pages(folder).items()}
    files[docs / "internals/layers.svg"] = layers.drawing(ROOT)
    files[docs / "guide/tiles.svg"] = tiles_picture()
    api = docs / "reference/api.md"
    files[api] = api_page.page(api.read_text("utf-8"))
    files[crash_sample.CRASH] = crash_sample.sample_text()
    sql = docs / "reference/sql.md"
    text = with_part(sql.read_text("utf-8"), "tables", tables_text(TABLES.values()))
    files[sql] = with_part(text, "tables of an index", tables_text(_OF_INDEX))
    for name, lines in (("facts", facts.page()), ("schemas", schema_page.page())):
        path = docs / f"reference/{name}.md"
        head, mark, _ = path.read_text("utf-8").partition(api_page.START)
        files[path] = f"{head}{mark}\n\n" + "\n".join(lines).rstrip() + "\n"
    lints = docs / "reference/lints.md"
    rules = "".join(f"{line}\n" for line in check.page(own_lints()))
    files[lints] = with_part(lints.read_text("utf-8"), "lints", rules)
    index = docs / "README.md"
    table = "".join(f"{line}\n" for line in command_pages.index_lines())
    files[index] = with_part(index.read_text("utf-8"), "commands", table)
    return files


def outdated() -> list[Path]:
    """The files whose generated parts are not up to date."""
    return [
        path
        for path, text in generated().items()
        if not path.exists() or path.read_text("utf-8") != text
    ]


def build_site(folder: Path, root: Path = ROOT) -> int:
    """Build the site of a checkout in a folder; the exit code. A link to nowhere is an error.

    mkdocs is not told to be quiet: then it would not count warnings, which are such links.
    """
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    options = ["--config-file", str(root / "mkdocs.yml"), "--site-dir", str(folder.absolute())]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run([*command, *options], capture_output=True, env=environment, text=True)
    if done.returncode:
        print(done.stderr, end="", file=sys.stderr)
    return done.returncode


def main() -> None:
    """Write, or check, all generated parts."""
    parser = argparse.ArgumentParser(prog="./dev docs", description=(__doc__ or "").strip())
    parser.add_argument("--check", action="store_true", help="only say what is out of date")
    parser.add_argument("--site", nargs="?", const="site", metavar="DIR", help="build the site")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="write examples of these alone")
    given = parser.parse_args()
    if given.site is not None:
        sys.exit(build_site(Path(given.site)))
    if given.check:
        for path in (found := outdated()):
            print(f"out of date: {path.relative_to(ROOT)}", file=sys.stderr)
        sys.exit(bool(found))
    for path, text in generated().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    names = given.pages
    for path in examples.pages():
        old = path.read_text("utf-8")
        if "```console" not in old or (names and str(path.relative_to(ROOT)) not in names):
            continue
        with examples.runner() as runner:
            new = examples.updated(old, runner)
        if new != old:
            path.write_text(new, "utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
