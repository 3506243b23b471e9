// SPDX-License-Identifier: MIT
// The timeline: submits over passes over marks, to scale; below them the draws of the chosen pass.
"use strict";

const SCALES = {
  draws: ["draws", (one) => one.draws[1]],
  vertices: ["vertices", (one) => one.totals.vertices],
  visible: ["visible primitives", (one) => one.totals.visible],
  bytes: ["bytes to and from memory", (one) => one.cost?.memory_bytes ?? 0],
};

const MARKS = ["load", "clear", "store", "resolve", "copy"];

// Pixels: of the least wide pass, of a submit's gap, of rows.
const LEAST = 5;
const GAP = 6;
const ROW = { submit: 0, pass: 16, marks: 46, draws: 64, height: 90 };

class Timeline {
  constructor(box, core, draws, go) {
    this.box = box;
    this.core = core;
    this.draws = draws;
    this.go = go;
    this.scale = "draws";
    this.current = { pass: null, row: -1 };
    const choices = Object.entries(SCALES).filter(([, [, measure]]) => core.passes.some((one) => measure(one) > 0));
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
    new ResizeObserver(() => this.draw()).observe(this.picture);
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
    const sizes = passes.map((one) => Math.max(0, measure(one)));
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
    if (!width || !this.core.passes.length) return;
    const places = this.places(width);
    const parts = [];
    this.core.passes.forEach((one, index) => parts.push(this.pass(one, places[index])));
    const attributes = {
      viewBox: `0 0 ${width} ${ROW.height}`,
      width,
      height: ROW.height,
      role: "group",
      "aria-label": "Passes to scale",
    };
    replace(this.picture, svg("svg", attributes, this.submits(places), parts, this.strip(width)));
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
        svg("rect", { x, y: ROW.submit, width: Math.max(1, end - x - 1), height: 13, class: "submit" }),
        label && svg("text", { x: x + 4, y: ROW.submit + 10, class: "small" }, label),
      );
    });
  }

  pass(one, { x, width }) {
    const label = width > 70 ? `pass ${one.pass}` : width > 16 ? String(one.pass) : null;
    const inner = Math.max(1, width - 1);
    const chosen = this.current.pass === one.pass;
    const marks = MARKS.filter((kind) => one.operations.some((operation) => operation.kind === kind));
    const step = Math.min(8, inner / Math.max(1, marks.length));
    const flushes = one.events_before.reduce((sum, [, times]) => sum + times, 0);
    return svg(
      "a",
      {
        href: `#pass=${one.pass}`,
        class: `timeline-pass kind-${one.mode ?? one.kind}${chosen ? " chosen" : ""}`,
        "aria-label": one.title,
        tabindex: chosen || (this.current.pass === null && one === this.core.passes[0]) ? 0 : -1,
      },
      svg("title", {}, this.hint(one)),
      svg("rect", { x, y: ROW.pass, width: inner, height: 26, class: "pass-box" }),
      label && svg("text", { x: x + 5, y: ROW.pass + 17 }, label),
      marks.map((kind, index) =>
        svg("rect", { x: x + index * step, y: ROW.marks, width: Math.max(1, step - 1), height: 9, class: `mark-${kind}` }),
      ),
      flushes > 0 && svg("rect", { x: Math.max(0, x - 1), y: ROW.pass - 2, width: 2, height: 30, class: "mark-barrier" }),
    );
  }

  hint(one) {
    const lines = [one.title, `submit ${one.submit}`];
    if (one.markers.length) lines.push(one.markers.join(" › "));
    for (const operation of one.operations.slice(0, 12)) {
      lines.push(`${operation.kind} ${operation.attachment ?? "?"}, ${plural(operation.times + operation.in_binning, "time")}`);
    }
    if (one.events_before.length) {
      lines.push(`before it: ${one.events_before.map(([name, times]) => (times > 1 ? `${name} ×${times}` : name)).join(", ")}`);
    }
    if (one.totals.visible) lines.push(`${count(one.totals.visible)} visible primitives`);
    return lines.map(visible).join("\n");
  }

  // The draws of the chosen pass over the whole width; several in a pixel are one bar.
  strip(width) {
    const one = this.draws.passes.get(this.current.pass);
    if (!one || !one.draws[1]) return null;
    const [first, length] = one.draws;
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
      bars.map((bar) => svg("rect", { x: bar.x, y: ROW.draws, width: bar.width, height: 22, "data-row": bar.row, class: "draw-bar" }, svg("title", {}, `${this.draws.name(bar.row)}: ${visible(this.draws.size(bar.row))}`))),
      chosen && svg("rect", { x: chosen.x, y: ROW.draws - 3, width: chosen.width, height: 28, class: "chosen-draw" }),
    );
    strip.addEventListener("click", (event) => {
      const row = event.target.closest("[data-row]");
      if (row) this.go({ row: Number(row.dataset.row) });
    });
    return strip;
  }

  measure() {
    const { vertices, instances, visible: seen } = this.draws.columns;
    if (this.scale === "vertices") return (row) => (vertices[row] ?? 0) * (instances[row] ?? 1);
    if (this.scale === "visible") return (row) => seen[row] ?? 0;
    return () => 1;
  }
}
