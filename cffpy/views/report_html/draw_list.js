// SPDX-License-Identifier: MIT
// The list of passes and their draws; the search leaves those draws that match.
"use strict";

class DrawList {
  constructor(box, core, draws, go) {
    this.core = core;
    this.draws = draws;
    this.list = new VirtualList(box, 22, "Passes and draws", (index) => this.row(index), (index) => this.choose(index));
    this.go = go;
    this.test = null;
    this.texts = [];
    box.hidden = false;
    this.build();
  }

  // Entries of the list: -1 - index of a pass, or the row of a draw. A pass without a draw that
  // matches is left out while there is a search.
  build() {
    this.entries = [];
    this.matches = 0;
    this.place = new Map();
    this.core.passes.forEach((one, index) => {
      const [first, length] = one.rows;
      const found = [];
      for (let row = first; row < first + length; row++) {
        if (!this.test || this.test(row) === true) found.push(row);
      }
      if (this.test && !found.length) return;
      this.matches += found.length;
      this.entries.push(-1 - index);
      for (const row of found) {
        this.place.set(row, this.entries.length);
        this.entries.push(row);
      }
    });
    this.list.current = -1;
    this.list.reset(this.entries.length);
  }

  filter(test) {
    this.test = test;
    this.build();
  }

  words(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (row) => {
      this.texts[row] ??= this.draws.text(row);
      return words.every((one) => this.texts[row].includes(one));
    };
  }

  row(index) {
    const entry = this.entries[index];
    if (entry < 0) {
      const one = this.core.passes[-1 - entry];
      const what = [one.mode ?? one.kind, one.framebuffer && `${one.framebuffer.width}x${one.framebuffer.height}`, plural(one.rows[1], "draw")].filter(Boolean);
      return h(
        "div",
        { class: `list-row list-pass kind-${one.mode ?? one.kind}`, title: visible(one.title) },
        h("span", { class: "list-name" }, `pass ${one.pass}`),
        h("span", {}, [...one.markers.slice(-1), ...what].join(", ")),
      );
    }
    const { draws } = this;
    return h(
      "div",
      { class: "list-row list-draw" },
      h("span", { class: "list-name" }, draws.name(entry)),
      h("span", { class: "list-kind" }, draws.kind(entry).replace("DI_PT_", "")),
      h("span", { class: "list-size" }, draws.size(entry)),
    );
  }

  choose(index) {
    const entry = this.entries[index];
    this.go(entry < 0 ? { pass: this.core.passes[-1 - entry].pass } : { row: entry });
  }

  select(pass, row) {
    if (row >= 0) {
      this.list.select(this.place.get(row) ?? -1);
    } else {
      const index = this.core.passes.findIndex((one) => one.pass === pass);
      this.list.select(index < 0 ? -1 : this.entries.indexOf(-1 - index));
    }
  }

  // The next entry in a direction: a draw, or a pass.
  step(direction, kind) {
    const { current } = this.list;
    const isWanted = (entry) => (kind === "draw" ? entry >= 0 : entry < 0);
    let index = current < 0 ? (direction > 0 ? 0 : this.entries.length - 1) : current + direction;
    while (index >= 0 && index < this.entries.length) {
      if (isWanted(this.entries[index])) {
        this.choose(index);
        return;
      }
      index += direction;
    }
  }
}
