// SPDX-License-Identifier: MIT
// The timeline: submits, debug markers, passes with their tiles, marks, to scale; below them the
// draws and the tiles of the chosen pass.
"use strict";

const SCALES = {
  draws: ["draws", (one) => one.rows[1]],
  vertices: ["vertices", (one) => one.vertices.number],
  visible: ["visible primitives", (one) => one.visible_primitives],
  bytes: ["bytes to and from memory", (one, costs) => costs.get(one.pass)?.memory_bytes ?? 0],
};

const MARKS = ["load", "clear", "store", "resolve", "copy"];

// What an operation does, as marks tell it.
const markOf = (operation) => (operation.resolves ? "resolve" : operation.kind);

// Pixels: of the least wide pass, of a submit's gap, of a row of markers, of a tile in a pass.
const LEAST = 5;
const GAP = 6;
const MARKER = 14;
const TILE = 3;

// Rows of nested markers, at most.
const MARKER_ROWS = 3;

class Timeline {
  constructor(box, core, draws, go) {
    this.box = box;
    this.core = core;
    this.draws = draws;
    this.go = go;
    this.scale = "draws";
    this.costs = new Map(core.costs.map((cost) => [cost.pass, cost]));
    this.current = { pass: null, row: -1 };
    const depth = Math.min(MARKER_ROWS, core.passes.reduce((most, one) => Math.max(most, one.markers.length), 0));
    const top = 16 + depth * MARKER;
    this.rows = { submit: 0, markers: 15, depth, pass: top, marks: top + 30, draws: top + 48, tiles: top + 76 };
    const choices = Object.entries(SCALES).filter(([, [, measure]]) => core.passes.some((one) => measure(one, this.costs) > 0));
    const options = choices.map(([name, [text]]) => h("option", { value: name }, text));
    this.choice = h("select", { id: "timeline-scale" }, options);
    this.choice.addEventListener("input", () => {
      this.scale = this.choice.value;
      this.draw();
    });
    this.picture = h("div", { class: "timeline-picture" });
    const legend = MARKS.map((name) => h("span", { class: `mark mark-${name}` }, name));
    replace(
      box,
      h("div", { class: "timeline-head" }, h("label", { for: "timeline-scale" }, "Timeline, to scale by "), this.choice, h("span", { class: "legend" }, legend, h("span", { class: "mark mark-barrier" }, "flush or wait"))),
      this.picture,
    );
    box.hidden = false;
    new ResizeObserver(() => {
      if (this.picture.clientWidth !== this.width) this.draw();
    }).observe(this.picture);
  }

  select(pass, row) {
    if (this.current.pass === pass && this.current.row === row) return;
    this.current = { pass, row };
    this.draw();
  }

  // Left edge and width of each pass, in pixels.
  places(width) {
    const { passes } = this.core;
    const measure = (SCALES[this.scale] ?? SCALES.draws)[1];
    const sizes = passes.map((one) => Math.max(0, measure(one, this.costs)));
    const total = sizes.reduce((sum, size) => sum + size, 0) || 1;
    const submits = passes.filter((one, index) => index && one.submit !== passes[index - 1].submit).length;
    const gap = Math.min(GAP, width / 4 / Math.max(1, submits));
    const least = Math.min(LEAST, width / 3 / Math.max(1, passes.length));
    const room = Math.max(0, width - submits * gap - passes.length * least);
    let x = 0;
    return passes.map((one, index) => {
      if (index && one.submit !== passes[index - 1].submit) x += gap;
      const place = { x, width: least + (room * sizes[index]) / total };
      x += place.width;
      return place;
    });
  }

  draw() {
    const width = this.picture.clientWidth;
    this.width = width;
    if (!width || !this.core.passes.length) return;
    const places = this.places(width);
    const parts = this.core.passes.map((one, index) => this.pass(one, places[index]));
    const strips = [this.drawStrip(width), this.tileStrip(width)];
    const height = strips[1] ? this.rows.tiles + 24 : strips[0] ? this.rows.tiles : this.rows.draws;
    const attributes = {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "group",
      "aria-label": "Passes to scale",
    };
    replace(this.picture, svg("svg", attributes, this.submits(places), this.markers(places), parts, this.barriers(places), strips));
  }

  submits(places) {
    const found = new Map();
    this.core.passes.forEach((one, index) => {
      const known = found.get(one.submit) ?? { x: places[index].x, end: 0 };
      known.end = places[index].x + places[index].width;
      found.set(one.submit, known);
    });
    return [...found].map(([submit, { x, end }]) => {
      const label = end - x > 60 ? `submit ${submit}` : end - x > 18 ? String(submit) : null;
      return svg(
        "g",
        {},
        svg("rect", { x, y: this.rows.submit, width: Math.max(1, end - x - 1), height: 13, class: "submit" }),
        label && svg("text", { x: x + 4, y: this.rows.submit + 10, class: "small" }, label),
      );
    });
  }

  // Bands of debug markers: passes in a row that have the same one.
  markers(places) {
    const { passes } = this.core;
    const bands = [];
    for (let level = 0; level < this.rows.depth; level++) {
      let band = null;
      passes.forEach((one, index) => {
        const path = one.markers.slice(0, level + 1).join("\n");
        const text = one.markers[level];
        if (!band || band.path !== path || text === undefined) {
          band = text === undefined ? null : { path, text, level, x: places[index].x, end: 0 };
          if (band) bands.push(band);
        }
        if (band) band.end = places[index].x + places[index].width;
      });
    }
    return bands.map(({ text, level, x, end }) => {
      const y = this.rows.markers + level * MARKER;
      const room = Math.floor((end - x - 6) / 6);
      const shown = visible(text);
      const label = room < 3 ? null : shown.length > room ? `${shown.slice(0, room - 1)}…` : shown;
      return svg(
        "g",
        { class: "marker" },
        svg("title", {}, shown),
        svg("rect", { x, y, width: Math.max(1, end - x - 1), height: MARKER - 2 }),
        label && svg("text", { x: x + 4, y: y + 10, class: "small" }, label),
      );
    });
  }

  pass(one, { x, width }) {
    const { rows } = this;
    const label = width > 70 ? `pass ${one.pass}` : width > 16 ? String(one.pass) : null;
    const inner = Math.max(1, width - 1);
    const chosen = this.current.pass === one.pass;
    const marks = MARKS.filter((kind) => one.operations.some((operation) => markOf(operation) === kind));
    const step = Math.min(8, inner / Math.max(1, marks.length));
    return svg(
      "a",
      {
        href: `#pass=${one.pass}`,
        class: `timeline-pass kind-${one.mode ?? one.kind}${chosen ? " chosen" : ""}`,
        "aria-label": one.title,
        tabindex: chosen || (this.current.pass === null && one === this.core.passes[0]) ? 0 : -1,
      },
      svg("title", {}, this.hint(one)),
      svg("rect", { x, y: rows.pass, width: inner, height: 26, class: "pass-box" }),
      this.tilesIn(one, x, inner),
      label && svg("text", { x: x + 5, y: rows.pass + 14 }, label),
      marks.map((kind, index) =>
        svg("rect", { x: x + index * step, y: rows.marks, width: Math.max(1, step - 1), height: 9, class: `mark-${kind}` }),
      ),
    );
  }

  // The tiles at the foot of a pass, in the order of execution, where they are wide enough.
  tilesIn(one, x, width) {
    const length = one.tiles ? columnLength(one.tiles.tile) : 0;
    if (length < 2 || width < TILE * length) return null;
    return this.tileBars(one, width).map((bar) => svg("rect", { x: x + bar.x, y: this.rows.pass + 19, width: Math.max(1, bar.width - 1), height: 5, class: "tile-bar" }));
  }

  // Left edge and width of each tile within a width, by visible primitives or visible draws.
  tileBars(one, width) {
    const { tile, primitives, visible: seen, emitted } = one.tiles;
    const size = (row) => (this.scale === "visible" ? cell(primitives, row) : null) ?? cell(seen, row) ?? cell(emitted, row) ?? 0;
    const sizes = Array.from({ length: columnLength(tile) }, (_, row) => Math.max(0, size(row)));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const least = Math.min(2, width / 2 / sizes.length);
    const room = Math.max(0, width - least * sizes.length);
    let x = 0;
    return sizes.map((size) => {
      const bar = { x, size, width: least + (total ? (room * size) / total : room / sizes.length) };
      x += bar.width;
      return bar;
    });
  }

  // Cache events and waits between a pass and the one before.
  barriers(places) {
    return this.core.passes.map((one, index) => {
      const events = Object.entries(one.events_before);
      if (!events.length) return null;
      const texts = events.map(([name, times]) => (times > 1 ? `${name} ×${times}` : name));
      const x = Math.max(1, places[index].x);
      const { pass } = this.rows;
      return svg(
        "g",
        { class: "barrier" },
        svg("title", {}, [`before pass ${one.pass}:`, ...texts.map(visible)].join("\n")),
        svg("rect", { x: x - 1, y: pass - 2, width: 2, height: 30, class: "mark-barrier" }),
        svg("path", { d: `M${x - 4} ${pass - 3}h8l-4 6z`, class: "mark-barrier" }),
      );
    });
  }

  hint(one) {
    const lines = [one.title, `submit ${one.submit}`];
    if (one.markers.length) lines.push(one.markers.join(" › "));
    for (const operation of one.operations.slice(0, 12)) {
      lines.push(`${markOf(operation)} ${operation.attachment ?? "?"}, ${plural(operation.times + operation.in_binning, "time")}`);
    }
    if (one.tile_count) lines.push(plural(one.tile_count, "tile"));
    if (one.visible_primitives) lines.push(`${count(one.visible_primitives)} visible primitives`);
    return lines.map(visible).join("\n");
  }

  // The draws of the chosen pass over the whole width; several in a pixel are one bar.
  drawStrip(width) {
    const one = this.draws.passes.get(this.current.pass);
    if (!one || !one.rows[1]) return null;
    const [first, length] = one.rows;
    const measure = this.measure();
    const sizes = [];
    let total = 0;
    for (let row = first; row < first + length; row++) total += sizes[sizes.push(Math.max(0, measure(row)) || 0) - 1];
    const least = Math.min(2, width / 2 / length);
    const room = Math.max(0, width - least * length);
    const bars = [];
    let x = 0;
    let from = 0;
    let chosen = null;
    for (let index = 0; index < length; index++) {
      const size = least + (total ? (room * sizes[index]) / total : room / length);
      if (first + index === this.current.row) chosen = { x, width: Math.max(2, size) };
      const isLast = index === length - 1 || x + size - from >= 2;
      if (isLast) {
        bars.push({ x: from, width: Math.max(0.6, x + size - from - (x + size - from > 3 ? 1 : 0)), row: first + index });
        from = x + size;
      }
      x += size;
    }
    const strip = svg(
      "g",
      { class: "strip", "aria-hidden": "true" },
      bars.map((bar) => svg("rect", { x: bar.x, y: this.rows.draws, width: bar.width, height: 22, "data-row": bar.row, class: "draw-bar" }, svg("title", {}, `${this.draws.name(bar.row)}: ${visible(this.draws.size(bar.row))}`))),
      chosen && svg("rect", { x: chosen.x, y: this.rows.draws - 3, width: chosen.width, height: 28, class: "chosen-draw" }),
    );
    strip.addEventListener("click", (event) => {
      const row = event.target.closest("[data-row]");
      if (row) this.go({ row: Number(row.dataset.row) });
    });
    return strip;
  }

  // The tiles of the chosen pass over the whole width.
  tileStrip(width) {
    const one = this.draws.passes.get(this.current.pass);
    if (!one?.tiles) return null;
    const y = this.rows.tiles;
    const bars = this.tileBars(one, width).map((bar, row) => {
      const fact = (name) => cell(one.tiles[name], row);
      const seen = fact("primitives") === null ? "" : `, ${count(fact("primitives"))} visible primitives`;
      const hint = `tile ${fact("tile")}: ${count(fact("visible"))} of ${plural(one.rows[1], "draw")} visible${seen}`;
      const label = bar.width > 22 ? String(fact("tile")) : null;
      return [
        svg("rect", { x: bar.x, y, width: Math.max(0.6, bar.width - (bar.width > 3 ? 1 : 0)), height: 18, class: "tile-bar" }, svg("title", {}, hint)),
        label && svg("text", { x: bar.x + 4, y: y + 13, class: "small" }, label),
      ];
    });
    return svg("g", { class: "tile-strip", "aria-hidden": "true" }, bars);
  }

  measure() {
    const { draws } = this;
    if (this.scale === "vertices") return (row) => (draws.fact(row, "vertices") ?? 0) * (draws.fact(row, "instances") ?? 1);
    if (this.scale === "visible") return (row) => draws.fact(row, "visible_primitives") ?? 0;
    return () => 1;
  }
}
