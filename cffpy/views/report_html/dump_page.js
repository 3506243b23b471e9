// SPDX-License-Identifier: MIT
// Fragments of the dump: a packet that wrote a register, and the packets around it.
"use strict";

// Packets before and after the one that is shown.
const AROUND = 8;

class DumpFragment {
  constructor(dump) {
    this.dump = dump;
  }

  // The text of a packet, without the line feed at its end; tabs are four spaces wide.
  text(row) {
    const { texts, lines, rows, digits } = this.dump;
    const start = BigInt(this.dump.gpuaddr[row]);
    const dwords = texts[rows[row]].split("\n").map((line) => {
      const offset = parseInt(line.trim(), 16);
      if (Number.isNaN(offset)) return line; // "*": rows of zeros
      const address = start + BigInt(offset);
      return `${address.toString(16).padStart(digits, "0")}:${line}`;
    });
    return `${texts[lines[row]]}${dwords.join("\n")}`.replaceAll("\t", "    ");
  }

  // Rows around one, as far as packets follow each other in memory.
  around(row) {
    const { follows } = this.dump;
    let first = row;
    let last = row;
    while (follows[first] && row - first < AROUND) first--;
    while (follows[last + 1] && last - row < AROUND) last++;
    return Array.from({ length: last - first + 1 }, (_one, index) => first + index);
  }
}

class DumpPage {
  constructor(box, core, draws) {
    this.box = box;
    this.core = core;
    this.draws = draws;
  }

  // write: the number of a packet that wrote registers.
  async show(write) {
    const [found, dump] = await Promise.all(["registers", "dump"].map(part));
    const registers = found?.writes ? new Registers(found) : null;
    const writes = found?.writes;
    if (!writes || !dump || !(write < writes.dump.length) || writes.dump[write] < 0) {
      replace(this.box, h("h2", {}, "Dump"), h("p", { class: "note" }, "This part of the dump is not in the page."));
      return;
    }
    const fragment = new DumpFragment(dump);
    const row = writes.dump[write];
    const lines = fragment.around(row).map((one) => this.packet(fragment, one, one === row ? this.notes(registers, write) : []));
    replace(
      this.box,
      h("h2", {}, `Dump at packet ${dump.gpuaddr[row]}`),
      h("p", { class: "note" }, `What cffpy dump prints of these packets; lines with #cffpy are this page's.`),
      h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Dump" }, lines),
    );
  }

  packet(fragment, row, notes) {
    const { dump } = fragment;
    const place = `packet ${dump.gpuaddr[row]}, file ${dump.file_offset[row]}`;
    const draws = this.drawsAt(dump.gpuaddr[row]);
    const links = draws.slice(0, 8).map((one) => [" ", h("a", { href: `#${linkOf(this.draws, one)}` }, this.draws.name(one))]);
    return h(
      "pre",
      { class: `listing dump${notes.length ? " chosen" : ""}` },
      h("span", { class: "annotation" }, `#cffpy ${[place, ...notes].join("; ")}`, draws.length ? [": draw", links] : null),
      "\n",
      fragment.text(row),
    );
  }

  // What is known of a packet that wrote registers.
  notes(registers, write) {
    const { writes } = registers;
    const [pass, submit] = [cell(writes.pass, write), cell(writes.submit, write)];
    const where = pass === null ? `submit ${submit}, outside of passes` : `pass ${pass} of submit ${submit}`;
    return [streamsText(writes, write), where, ...registers.notes(write)];
  }

  // The draws whose packet is at an address.
  drawsAt(gpuaddr) {
    if (!this.places) {
      this.places = new Map();
      for (let row = 0; row < this.draws.length; row++) {
        const one = this.draws.fact(row, "place.gpuaddr");
        if (!this.places.has(one)) this.places.set(one, []);
        this.places.get(one).push(row);
      }
    }
    return this.places.get(gpuaddr) ?? [];
  }
}
