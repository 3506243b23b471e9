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

// The value of a row in a column: a list of values, or each value once with an index for each row.
const cell = (column, row) => (Array.isArray(column) ? column[row] : column.values[column.index[row]]);

const columnLength = (column) => (Array.isArray(column) ? column : column.index).length;

// The streams that lead to a packet, and where it is, of the columns of a place.
function streamsText(columns, row, place = "place") {
  const calls = cell(columns[`${place}.path`], row).slice(1);
  const names = calls.map(({ kind, gpuaddr, group }) => ` > ${kind === "group" ? `group ${group}` : kind} ${gpuaddr}`);
  return `stream ${cell(columns[`${place}.stream`], row)}${names.join("")}`;
}

function placeText(columns, row, place = "place") {
  const offset = cell(columns[`${place}.file_offset`], row);
  return `${streamsText(columns, row, place)} > ${cell(columns[`${place}.gpuaddr`], row)}${offset === null ? "" : ` +${offset}`}`;
}

// The same of a place that is an object.
const objectPlaceText = (place) =>
  placeText(Object.fromEntries(Object.entries(place).map(([name, value]) => [`place.${name}`, [value]])), 0);

// The draws, by columns: a row is a draw, over all passes.
class Draws {
  constructor(core) {
    this.filter = core.filter;
    this.columns = core.draws;
    this.length = core.passes.reduce((sum, one) => sum + one.rows[1], 0);
    this.passes = new Map(core.passes.map((one) => [one.pass, one]));
  }

  // What a fact of draws means.
  meaning(name) {
    return this.filter.properties[`draw.${name}`]?.meaning ?? null;
  }

  // A fact of a draw, or another column of it.
  fact(row, name) {
    return cell(this.columns[name], row);
  }

  pass(row) {
    return this.passes.get(this.fact(row, "pass"));
  }

  name(row) {
    return this.fact(row, "name");
  }

  // The row of a draw by its pass and its number there; -1 where there is none.
  row(pass, number) {
    const found = this.passes.get(pass);
    if (!found) return -1;
    const [first, length] = found.rows;
    for (let row = first; row < first + length; row++) {
      if (this.fact(row, "draw") === number) return row;
    }
    return -1;
  }

  kind(row) {
    // the role is empty but for what drivers draw of their own
    const what = this.fact(row, "role") || this.fact(row, "kind");
    return what === "draw" ? this.fact(row, "primitive") || "draw" : what;
  }

  // What a draw draws, in a few words.
  size(row) {
    const [vertices, instances] = [this.fact(row, "vertices"), this.fact(row, "instances")];
    const groups = ["x", "y", "z"].map((axis) => this.fact(row, `groups.${axis}`));
    if (groups[0] !== null) return `${groups.map(count).join(" × ")} groups`;
    if (vertices === null) return this.fact(row, "kind") === "draw" ? "? vertices" : "";
    const noun = this.fact(row, "indexed") ? ["index", "indices"] : ["vertex", "vertices"];
    return plural(vertices, ...noun) + (instances === 1 ? "" : ` × ${count(instances)}`);
  }

  // Of each program of a draw its stage, its address, and its number among the shaders or null.
  programs(row) {
    const shaders = this.fact(row, "shaders");
    return this.fact(row, "programs").map(({ stage, gpuaddr }, index) => [stage, gpuaddr, shaders[index]]);
  }

  // What a draw does with LRZ, and why not; null where there is none.
  lrz(row) {
    const reasons = this.fact(row, "lrz_reasons").join("; ");
    return reasons ? `${this.fact(row, "lrz")}: ${reasons}` : this.fact(row, "lrz");
  }

  // What words of the search are compared with.
  text(row) {
    const stages = this.programs(row).map(([stage]) => stage);
    const targets = this.fact(row, "targets").flatMap(({ name, format, address }) => [name, format, address]);
    const one = this.pass(row);
    return [
      this.name(row),
      `dump ${this.fact(row, "dump_draw")}`,
      this.kind(row),
      this.fact(row, "packet"),
      this.size(row),
      ...stages,
      ...targets,
      ...one.markers,
      one.mode,
      this.lrz(row),
      this.fact(row, "source"),
      this.fact(row, "destination"),
      this.fact(row, "place.gpuaddr"),
    ]
      .join(" ")
      .toLowerCase();
  }
}
