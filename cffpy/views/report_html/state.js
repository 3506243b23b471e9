// SPDX-License-Identifier: MIT
// Columns of changes: registers and bindings, each with the draws at which it changes.
"use strict";

// The index of the last change at or before a draw; -1: none.
function changeAt(column, row) {
  let low = 0;
  let high = column.draws.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column.draws[middle] <= row) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// A register's name as the search compares it: upper case, indices of arrays in decimal.
const plainName = (name) =>
  name.replace(/\[(0x[0-9a-f]+)\]/gi, (_all, index) => `[${Number(index)}]`).toUpperCase();

class Registers {
  constructor(part) {
    this.types = part.types;
    this.columns = part.columns;
    this.writes = part.writes;
    this.byName = new Map(this.columns.map((column) => [plainName(column.name), column]));
  }

  // What a register is at a draw: null where it was never written.
  at(column, row) {
    const change = changeAt(column, row);
    if (change < 0) return null;
    return { value: column.value[change], write: column.write[change], since: column.draws[change] };
  }

  // Whether the value differs from that at an earlier draw; before the first draw (-1), nothing is.
  differs(column, row, earlier) {
    const now = this.at(column, row);
    const before = this.at(column, earlier);
    return (now === null ? null : now.value) !== (before === null ? null : before.value);
  }

  // Hex digits of a value; its text; [[field, low, high, text]].
  digits(column, value) {
    return value < 0 ? "unknown" : column.values[value][0];
  }

  text(column, value) {
    return value < 0 ? "only the GPU knows" : column.values[value][1] ?? column.values[value][0];
  }

  fields(column, value) {
    const texts = value < 0 ? {} : column.values[value][2] ?? {};
    return Object.entries(texts).map(([field, text]) => [...column.fields[Number(field)].slice(0, 3), text]);
  }

  // The hardware block of a register, by its name.
  static block(name) {
    const found = /^[A-Z][A-Z0-9]*?(?=_)/.exec(name);
    return found ? found[0] : "other";
  }

  // What is to be known of the packet that wrote a value.
  notes(write) {
    const { writes } = this;
    const found = [];
    const condition = cell(writes.condition, write);
    if (condition) found.push(`conditional: ${condition}`);
    if (cell(writes["patched_by.stream"], write) !== null) {
      found.push(`stored there by CP_MEM_WRITE: ${placeText(writes, write, "patched_by")}`);
    }
    const computed = cell(writes.computed_from, write).map(objectPlaceText);
    if (computed.length) found.push(`computed from: ${computed.join("; ")}`);
    return found;
  }

  origin(write, draws, row) {
    if (write < 0) return "";
    const one = draws.pass(row);
    if (cell(this.writes.submit, write) !== one.submit) return "earlier submit";
    return cell(this.writes.pass, write) === one.pass ? "this pass" : "before the pass";
  }
}
