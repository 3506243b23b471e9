// SPDX-License-Identifier: MIT
// The page of a draw: its registers by hardware block, programs, bindings, vertices, constants.
"use strict";

// What the registers of a draw are compared with.
const MODES = {
  changed: "changed since the draw before",
  began: "changed since the pass began",
  all: "all",
};

// The hardware blocks in the order of the pipeline.
const BLOCKS = ["CP", "RBBM", "VSC", "VFD", "VPC", "PC", "VGT", "PA", "GRAS", "SP", "TPL1", "HLSQ", "SQ", "RB", "UCHE", "CCHE"];

class DrawPage {
  constructor(box, core, draws) {
    this.box = box;
    this.core = core;
    this.draws = draws;
    this.mode = "changed";
    this.row = -1;
  }

  async show(row) {
    this.row = row;
    const [registers, bindings, shaders, pictures] = await Promise.all(
      ["registers", "bindings", "shaders", "pictures"].map(part),
    );
    if (this.row !== row) return; // another draw was chosen meanwhile
    this.registers = registers?.writes ? new Registers(registers) : null;
    this.bindings = bindings;
    this.shaders = shaders;
    this.pictures = pictures;
    const { draws } = this;
    const one = draws.pass(row);
    replace(
      this.box,
      h("h2", {}, `Draw ${draws.name(row)} `, h("span", { class: "note" }, draws.kind(row))),
      this.facts(row, one),
      this.differences(row),
      this.registerSection(),
      this.programs(row),
      ...this.bound(row),
    );
    this.drawState();
  }

  facts(row, one) {
    const fact = (name) => this.draws.fact(row, name);
    const items = [
      ["pass", h("a", { href: `#pass=${one.pass}` }, one.title)],
      ["draws", this.draws.size(row), "vertices"],
      ["packet", `${fact("packet")}${fact("dump_draw") === null ? "" : `, #${fact("dump_draw")} of the dump`}`],
      ["at", h("code", {}, placeText(this.draws.columns, row))],
    ];
    if (fact("pipe")) items.push(["executed by", fact("pipe"), "pipe"]);
    if (fact("visible_primitives") !== null) items.push(["visible primitives", count(fact("visible_primitives")), "visible_primitives"]);
    if (fact("executed") !== true) {
      items.push(["executed", `only the GPU knows${fact("condition") ? `: ${fact("condition")}` : ""}`, "executed"]);
    }
    if (this.draws.lrz(row)) items.push(["LRZ", this.draws.lrz(row), "lrz"]);
    if (fact("stream_out")) items.push(["stream-out", "writes its vertices to buffers", "stream_out"]);
    if (fact("queries")?.length) items.push(["counted by queries", fact("queries").join(", "), "queries"]);
    for (const { name, format, address } of fact("targets")) {
      items.push([name, `${format ?? "format unknown"} at ${address ?? "unknown"}`]);
    }
    for (const end of ["source", "destination"]) {
      if (fact(end)) items.push([end, h("code", {}, fact(end))]);
    }
    const findings = this.core.findings.filter((each) => each.pass === one.pass && each.draw === fact("draw"));
    for (const each of findings) items.push([each.severity, `${each.id} ${each.name}: ${each.text}`]);
    return h("dl", { class: "facts" }, items.map(([name, value, about]) => [h("dt", { title: about && this.draws.meaning(about) }, name), h("dd", {}, value)]));
  }

  differences(row) {
    const entries = this.core.comparison?.entries ?? [];
    const here = entries.filter((entry) => entry.extents.some(([, first, last]) => first >= 0 && row >= first && row <= last));
    if (!here.length) return null;
    const items = here.map((entry) =>
      h("li", {}, entry.title, h("ul", {}, entry.fields.slice(0, 12).map(([name, other, now]) => h("li", {}, `${name}: `, h("span", { class: "good" }, other), " → ", h("span", { class: "bad" }, now))))),
    );
    return section(`Differences from ${this.core.comparison.other}`, h("ul", {}, items));
  }

  // -- registers ----------------------------------------------------------------------------------

  registerSection() {
    if (!this.registers) return section("Registers", h("p", { class: "note" }, "The registers are not in the page."));
    const choices = Object.entries(MODES).map(([mode, text]) =>
      h("label", {}, h("input", { type: "radio", name: "mode", value: mode, checked: mode === this.mode, onchange: () => this.setMode(mode) }), text),
    );
    const find = h("input", { type: "search", "aria-label": "Registers by name or value", placeholder: "register, field or value", value: this.find ?? "" });
    find.addEventListener("input", () => {
      this.find = find.value;
      this.drawState();
    });
    this.list = h("div", { class: "registers" });
    return section("Registers", h("div", { class: "choices", role: "radiogroup", "aria-label": "Which registers" }, choices, find), this.list);
  }

  setMode(mode) {
    this.mode = mode;
    for (const input of this.box.querySelectorAll("input[name=mode]")) input.checked = input.value === mode;
    if (this.list) this.drawState();
  }

  drawState() {
    if (!this.registers) return;
    const { row, registers } = this;
    const [first] = this.draws.pass(row).rows;
    const earlier = this.mode === "began" ? first - 1 : row - 1;
    const words = (this.find ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const blocks = new Map();
    let shown = 0;
    for (const column of registers.columns) {
      const now = registers.at(column, row);
      if (now === null) continue;
      const isChanged = registers.differs(column, row, earlier);
      if (this.mode !== "all" && !isChanged) continue;
      if (words.length && !this.matches(column, now, words)) continue;
      const block = Registers.block(column.name);
      if (!blocks.has(block)) blocks.set(block, []);
      blocks.get(block).push(this.register(column, now, isChanged ? registers.at(column, earlier) : null, isChanged));
      shown++;
    }
    const place = (name) => (BLOCKS.includes(name) ? BLOCKS.indexOf(name) : BLOCKS.length);
    const ordered = [...blocks].sort(([one], [other]) => place(one) - place(other) || (one < other ? -1 : 1));
    const none = h("p", { class: "note" }, words.length ? "No register matches." : "No register has another value.");
    replace(
      this.list,
      h("p", { class: "note" }, plural(shown, "register")),
      shown ? ordered.map(([name, rows]) => h("section", { class: "block" }, h("h4", {}, name), h("div", { class: "rows" }, rows))) : none,
    );
  }

  matches(column, now, words) {
    const text = `${column.name} ${this.registers.digits(column, now.value)} ${this.registers.text(column, now.value)}`.toLowerCase();
    return words.every((one) => text.includes(one));
  }

  register(column, now, before, isChanged) {
    const { registers } = this;
    const text = registers.text(column, now.value);
    const digits = registers.digits(column, now.value);
    const was = isChanged && before !== null ? registers.text(column, before.value) : null;
    const row = h(
      "details",
      { class: `register${isChanged ? " changed" : ""}` },
      h(
        "summary",
        {},
        h("span", { class: "register-name" }, column.name),
        h("span", { class: "register-value" }, this.shortText(column, now.value, text, digits),  was === null ? null : h("span", { class: "was" }, ` was ${this.changedText(column, before.value, now.value)}`)),
      ),
    );
    row.addEventListener("toggle", () => {
      if (row.open && row.children.length === 1) row.append(this.details(column, now, before));
    });
    return row;
  }

  // Fields without the braces around them; those that are off are left out by the text itself.
  shortText(column, value, text, digits) {
    if (!registersHaveFields(column, value)) return text;
    const shown = text.replace(/^\{ | \}$/g, "").split(" | ").map((field, index) => {
      const [name, ...rest] = field.split(" = ");
      return [index ? ", " : "", h("span", { class: "field-name" }, name), rest.length ? ` ${rest.join(" = ")}` : ""];
    });
    return [shown, h("span", { class: "digits" }, `  ${digits}`)];
  }

  // Of a value with fields, the old values of those that changed.
  changedText(column, before, now) {
    if (!registersHaveFields(column, before) || !registersHaveFields(column, now)) {
      return this.registers.text(column, before);
    }
    const [old, fresh] = [column.values[before][2], column.values[now][2]];
    const names = Object.keys({ ...old, ...fresh }).filter((field) => old[field] !== fresh[field]);
    return names.map((field) => `${column.fields[Number(field)][0]} ${old[field] ?? "0"}`).join(", ");
  }

  details(column, now, before) {
    const { registers } = this;
    const fields = registers.fields(column, now.value);
    const old = new Map(before ? registers.fields(column, before.value).map(([name, , , text]) => [name, text]) : []);
    const rows = fields.map(([name, low, high, text]) => {
      const changed = old.has(name) && old.get(name) !== text;
      return [name, low === high ? String(low) : `${high}:${low}`, text, changed ? `was ${old.get(name)}` : ""];
    });
    return h(
      "div",
      { class: "register-details" },
      rows.length ? table(["field", "bits", "value", ""], rows) : null,
      h("p", { class: "note" }, `offset 0x${column.offset.toString(16)}, ${column.bits} bits, value ${registers.digits(column, now.value)}`),
      this.packet(now.write),
    );
  }

  // The packet that wrote a value, as the dump has it, with a link to what is around it.
  packet(write) {
    if (write < 0) return null;
    const { writes } = this.registers;
    const name = cell(writes.packet, write);
    const gpuaddr = cell(writes["place.gpuaddr"], write);
    const where = `${streamsText(writes, write)}, packet ${gpuaddr}, file ${cell(writes["place.file_offset"], write)}`;
    const notes = [this.registers.origin(write, this.draws, this.row), ...this.registers.notes(write)];
    const row = writes.dump[write];
    const text = h("pre", { class: "listing", tabindex: 0, "aria-label": "The packet in the dump" });
    const shown = h(
      "div",
      { class: "packet" },
      h("p", {}, `Written by ${name}, ${notes.filter(Boolean).join(", ")}`, row < 0 ? null : [". ", h("a", { href: `#packet=${write}` }, "The dump around it")]),
      h("p", {}, h("code", {}, where)),
      text,
    );
    part("dump").then((dump) => {
      if (dump && row >= 0) replace(text, new DumpFragment(dump).text(row));
      else text.remove();
    });
    return shown;
  }

  // -- what it runs and reads -----------------------------------------------------------------------

  programs(row) {
    const stages = this.draws.programs(row);
    if (!stages.length) return null;
    const items = stages.map(([stage, address, number]) => {
      const shader = number === null ? null : this.shaders?.[number];
      const summary = h("summary", {}, h("b", {}, stage), ` at ${address} `, shader ? h("span", { class: "note" }, shaderNote(shader)) : h("span", { class: "note" }, "not captured"));
      const found = h("details", { class: "entry" }, summary);
      found.addEventListener("toggle", () => {
        if (found.open && shader && found.children.length === 1) found.append(shaderBody(shader, this.draws.filter.numbers));
      });
      return found;
    });
    return section("Shaders", items);
  }

  bound(row) {
    if (!this.bindings) return [section("Bindings", h("p", { class: "note" }, "What draws have bound is not in the page."))];
    const found = [];
    for (const place of this.bindings.places) {
      const change = changeAt(place, row);
      const value = change < 0 ? -1 : place.value[change];
      if (value >= 0) found.push({ place, value: this.bindings.values[value], isNew: place.draws[change] === row });
    }
    const used = found.filter(({ value }) => value.used !== false);
    const of = (...kinds) => used.filter(({ place }) => kinds.includes(place.kind));
    const isRest = ({ value, place }) => value.used === false && place.kind !== "uniform buffer";
    const rest = found.filter(isRest).map((one) => ({ ...one, place: { ...one.place, label: `${one.place.kind} ` } }));
    const parts = [
      ["Textures", of("texture"), (one) => this.descriptor(one)],
      ["Samplers", of("sampler"), (one) => this.descriptor(one)],
      ["Storage", of("storage", "storage size"), (one) => this.descriptor(one)],
      ["Uniform buffers", of("uniform data"), (one) => this.data(one)],
      ["Constants", of("constants", "push constants"), (one) => this.data(one)],
      ["Bound, not used by a program that runs", rest, (one) => (one.place.kind === "uniform data" ? this.data(one) : this.descriptor(one))],
    ];
    return [
      ...this.vertices(row, of("vertex buffer"), of("index buffer")),
      ...parts.filter(([, list]) => list.length).map(([heading, list, render]) => section(`${heading} (${list.length})`, list.map(render))),
    ];
  }

  bindingName({ stage, bindless_set: set, slot, label = "" }) {
    return label + (set === null ? (stage === null ? String(slot) : `${stage} ${slot}`) : `set ${set}, ${slot}`);
  }

  descriptor({ place, value, isNew }) {
    const text = (name) => value.fields?.find(([one]) => one === name)?.[3];
    const sizes = [value.width, value.height, text("DEPTH")].filter((one) => one !== undefined && String(one) !== "0");
    const size = value.elements === undefined ? sizes.join(" × ") : plural(value.elements, "element");
    const access = place.kind.startsWith("storage") ? [value.reads && "read", value.writes && "written"] : [];
    const unsure = value.used && !value.sure ? "may be used" : null;
    const short = [...access, unsure, value.format, size, text("TYPE"), text("XY_MAG"), text("WRAP_S")].filter(Boolean).join(", ");
    const rows = (value.fields ?? []).map(([name, low, high, field]) => [name, `${high}:${low}`, field]);
    const picture = value.picture >= 0 ? this.pictures?.[value.picture] : null;
    const thumbnail = picture?.png ? pictureOf(picture, "thumbnail") : null;
    return this.folded(place, isNew, [thumbnail, value.address ? `${value.address} ` : "", short], () => [
      picture ? pictureFigure(picture) : null,
      rows.length ? table(["field", "bits", "value"], rows) : h("p", { class: "note" }, "not described"),
      value.place ? h("p", {}, h("code", {}, `loaded by ${value.place}`)) : null,
      value.dwords ? h("pre", { class: "listing", tabindex: 0 }, dwordsText(value.dwords)) : null,
    ]);
  }

  data({ place, value, isNew }) {
    const size = value.size === undefined ? "not captured" : plural(value.size, "byte");
    const from = value.first_byte ? ` + 0x${value.first_byte.toString(16)}` : "";
    return this.folded(place, isNew, [value.address ? `${value.address}${from}, ` : "", size], () => [
      value.data ? dataTable(bytesOf(value.data)) : h("p", { class: "note" }, "The contents are not in the page."),
      value.data && value.data.length / 2 < value.size ? h("p", { class: "note" }, `The first ${count(value.data.length / 2)} bytes.`) : null,
      value.place ? h("p", {}, h("code", {}, `loaded by ${value.place}`)) : null,
    ]);
  }

  folded(place, isNew, summary, content) {
    const head = h("summary", {}, h("b", {}, this.bindingName(place)), " ", summary, isNew ? h("span", { class: "chip" }, "changed") : null);
    const found = h("details", { class: "entry" }, head);
    found.addEventListener("toggle", () => {
      if (found.open && found.children.length === 1) append(found, [content()]);
    });
    return found;
  }

  vertices(row, buffers, indices) {
    if (!buffers.length && !indices.length) return [];
    const data = new Map(buffers.filter(({ value }) => value.data).map(({ place, value }) => [place.slot, bytesOf(value.data)]));
    const attributes = this.draws.fact(row, "attributes");
    const vertexRows = h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Vertices" }, vertexTable(attributes, data) ?? h("p", { class: "note" }, "The attributes cannot be decoded: see the buffers."));
    return [
      section(
        "Vertices",
        vertexRows,
        buffers.map((one) => this.data({ ...one, place: { ...one.place, stage: "buffer" } })),
        indices.map(({ place, value, isNew }) =>
          this.folded({ ...place, stage: "indices", slot: "" }, isNew, [`${value.address}, `, value.size === undefined ? "not captured" : plural(value.size, "byte")], () => [value.data ? this.indices(row, value) : h("p", { class: "note" }, "not in the page")]),
        ),
      ),
    ];
  }

  indices(row, value) {
    const found = indexTable(bytesOf(value.data), this.indexSize(row, value), acrossOf(this.draws.fact(row, "primitive")));
    return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Indices" }, found);
  }

  indexSize(row, value) {
    const length = this.draws.fact(row, "vertices");
    const size = length ? Math.round(value.size / length) : 2;
    return [1, 2, 4].includes(size) ? size : 2;
  }
}

function section(heading, ...content) {
  return h("section", {}, h("h3", {}, heading), content);
}

const registersHaveFields = (column, value) => value >= 0 && column.values[value].length > 2;

function dwordsText(hex) {
  const data = bytesOf(hex);
  const lines = [];
  for (let at = 0; at + 4 <= data.byteLength; at += 4) {
    lines.push((at % 16 ? " " : at ? "\n" : "") + hex32(data.getUint32(at, true)));
  }
  return lines.join("");
}
