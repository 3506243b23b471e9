// SPDX-License-Identifier: MIT
// Shaders: a table of all, and the listing of one.
"use strict";

// Members of a shader that are shown apart from its numbers.
const NOT_NUMBERS = ["shader", "stage", "gpuaddr", "listing"];

// Numbers in the table of all shaders.
const TABLE_NUMBERS = ["instructions", "full_registers", "half_registers", "constlen", "sstall", "ss", "sy"];

function shaderNote(shader) {
  const found = [plural(shader.instructions, "instruction")];
  if (shader.full_registers !== null) {
    found.push(`${shader.full_registers} full, ${shader.half_registers} half registers`, `(ss) ${shader.ss}, (sy) ${shader.sy}`);
  }
  return found.join(", ");
}

// The name of a number with its meaning. meanings: by the names of numbers.
const numberName = (name, meanings) => h("span", { title: meanings[name] }, name);

function shaderBody(shader, meanings) {
  const shown = Object.entries(shader).filter(([name, value]) => value !== null && !NOT_NUMBERS.includes(name));
  const rows = shown.map(([name, value]) => [numberName(name, meanings), String(value)]);
  return h(
    "div",
    { class: "shader" },
    h("pre", { class: "listing", tabindex: 0, "aria-label": `Listing of shader ${shader.shader}` }, shader.listing ?? "The listing is not in the page."),
    rows.length ? h("details", {}, h("summary", {}, "Statistics"), table(["number", "value"], rows)) : null,
  );
}

class ShaderPage {
  constructor(box, draws) {
    this.box = box;
    this.draws = draws;
  }

  async show(number) {
    const shaders = await part("shaders");
    if (!shaders) {
      replace(this.box, h("h2", {}, "Shaders"), h("p", { class: "note" }, "The shaders are not in the page."));
      return;
    }
    const one = shaders[number];
    replace(this.box, h("h2", {}, one ? `Shader ${number}, ${one.stage}` : "Shaders"), one ? this.one(one) : this.all(shaders));
  }

  one(shader) {
    const uses = this.uses().get(shader.shader) ?? [];
    const links = uses.slice(0, 60).map((row) => [h("a", { href: `#${linkOf(this.draws, row)}` }, this.draws.name(row)), " "]);
    return [
      h("p", {}, h("a", { href: "#shaders" }, "All shaders"), ` · ${shader.gpuaddr}, ${plural(shader.bytes, "byte")}, ${shaderNote(shader)}`),
      h("p", {}, `${plural(uses.length, "draw")}: `, links, uses.length > 60 ? "…" : null),
      shaderBody(shader, this.draws.filter.numbers),
    ];
  }

  all(shaders) {
    const uses = this.uses();
    const number = (one, name) => (one[name] === null ? "" : count(one[name]));
    const rows = shaders.map((one) => [
      h("a", { href: `#shader=${one.shader}` }, String(one.shader)),
      one.stage,
      h("code", {}, one.gpuaddr),
      ...TABLE_NUMBERS.map((name) => number(one, name)),
      count((uses.get(one.shader) ?? []).length),
    ]);
    const names = TABLE_NUMBERS.map((name) => numberName(name, this.draws.filter.numbers));
    const headings = ["shader", "stage", "gpuaddr", ...names, "draws"];
    return h("div", { class: "scroll", tabindex: 0 }, table(headings, rows));
  }

  // Shader -> rows of the draws that run it.
  uses() {
    if (!this.found) {
      this.found = new Map();
      for (let row = 0; row < this.draws.length; row++) {
        for (const [, , number] of this.draws.programs(row)) {
          if (!this.found.has(number)) this.found.set(number, []);
          this.found.get(number).push(row);
        }
      }
    }
    return this.found;
  }
}

const linkOf = (draws, row) => `pass=${draws.fact(row, "pass")}&draw=${draws.fact(row, "draw")}`;
