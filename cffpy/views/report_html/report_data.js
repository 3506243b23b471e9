// SPDX-License-Identifier: MIT
// The data in the page: parts are unpacked when they are asked for, once.
"use strict";

const unpacking = new Map();

// A part of the document; null where it is not in the page.
function part(name) {
  if (!unpacking.has(name)) unpacking.set(name, unpack(name));
  return unpacking.get(name);
}

async function unpack(name) {
  const block = document.getElementById(`data-${name}`);
  if (!block) return null;
  const text = atob(block.textContent);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

// A column of words: { words, index }.
const word = (column, row) => (column.index[row] < 0 ? null : column.words[column.index[row]]);

// The draws: row is a draw's number in the report, over all passes.
class Draws {
  constructor(core) {
    this.filter = core.filter;
    this.columns = core.draws;
    this.length = this.columns.pass.length;
    this.passes = new Map(core.passes.map((one) => [one.pass, one]));
  }

  pass(row) {
    return this.passes.get(this.columns.pass[row]);
  }

  name(row) {
    return `p${this.columns.pass[row]}:${this.columns.number[row]}`;
  }

  // The row of a draw by its pass and its number there; -1 where there is none.
  row(pass, number) {
    const found = this.passes.get(pass);
    if (!found) return -1;
    const [first, length] = found.draws;
    for (let row = first; row < first + length; row++) {
      if (this.columns.number[row] === number) return row;
    }
    return -1;
  }

  kind(row) {
    const { primitive, kind, role } = this.columns;
    // the role is empty but for what drivers draw of their own
    const what = word(role, row) || word(kind, row);
    return what === "draw" ? word(primitive, row) || "draw" : what;
  }

  // What a draw draws, in a few words.
  size(row) {
    const { vertices, instances, groups, indexed } = this.columns;
    if (groups[row]) return `${groups[row].map(count).join(" × ")} groups`;
    if (vertices[row] === null) return word(this.columns.kind, row) === "draw" ? "? vertices" : "";
    const noun = indexed[row] ? ["index", "indices"] : ["vertex", "vertices"];
    const times = instances[row] === 1 ? "" : ` × ${count(instances[row])}`;
    return plural(vertices[row], ...noun) + times;
  }

  programs(row) {
    return this.columns.program_sets[this.columns.programs[row]];
  }

  // [[number, format, buffer, offset, stride, instanced]]
  attributes(row) {
    return this.columns.attribute_sets[this.columns.attributes[row]] ?? [];
  }

  targets(row) {
    return this.columns.target_sets[this.columns.targets[row]];
  }

  // What words of the search are compared with.
  text(row) {
    const stages = this.programs(row).map(([stage]) => stage);
    const targets = this.targets(row).flat();
    const one = this.pass(row);
    return [
      this.name(row),
      `dump ${this.columns.dump[row]}`,
      this.kind(row),
      word(this.columns.packet, row),
      this.size(row),
      ...stages,
      ...targets,
      ...one.markers,
      one.mode,
      word(this.columns.lrz, row),
      word(this.columns.source, row),
      word(this.columns.destination, row),
      this.columns.gpuaddr[row],
    ]
      .join(" ")
      .toLowerCase();
  }
}
