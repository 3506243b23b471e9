// SPDX-License-Identifier: MIT
// Resources: a table of memory with the passes that write and read it.
"use strict";

// Rows that are shown at once.
const RESOURCE_ROWS = 300;

class ResourcePage {
  constructor(box, draws) {
    this.box = box;
    this.draws = draws;
    this.words = "";
    this.most = RESOURCE_ROWS;
  }

  async show() {
    if (this.shown) return;
    this.shown = true;
    const found = await part("resources");
    if (!found) {
      replace(this.box, h("p", { class: "note" }, "The resources are not in the page."));
      return;
    }
    this.resources = found.resources;
    const find = h("input", { type: "search", placeholder: "address, kind, format", "aria-label": "Resources by address, kind or format" });
    find.addEventListener("input", () => {
      this.words = find.value.toLowerCase();
      this.most = RESOURCE_ROWS;
      this.draw();
    });
    this.table = h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Resources" });
    replace(this.box, h("div", { class: "choices" }, find), this.table);
    this.draw();
  }

  draw() {
    const words = this.words.split(/\s+/).filter(Boolean);
    const matching = this.resources.filter((one) => {
      const text = `${one.gpuaddr} ${one.kinds.join(" ")} ${one.text} ${one.buffer?.gpuaddr ?? ""}`.toLowerCase();
      return words.every((each) => text.includes(each));
    });
    const rows = matching.slice(0, this.most).map((one) => [
      h("code", {}, one.gpuaddr),
      String(one.submit),
      one.kinds.join(", "),
      one.text,
      one.buffer ? h("code", {}, `${one.buffer.gpuaddr}, ${count(one.buffer.size)} bytes`) : one.gmem ? "GMEM" : "not captured",
      this.uses(one, (how) => how !== "read"),
      this.uses(one, (how) => how === "read"),
    ]);
    const more = h("button", { type: "button", onclick: () => this.showMore() }, `Show more of ${count(matching.length)}`);
    replace(
      this.table,
      table(["address", "submit", "kind", "what", "buffer", "written by", "read by"], rows),
      matching.length > this.most ? more : null,
    );
  }

  showMore() {
    this.most += RESOURCE_ROWS;
    this.draw();
  }

  uses(one, isWanted) {
    const found = one.uses.filter(({ how }) => isWanted(how));
    const links = found.slice(0, 12).map(({ pass, how, row, times }) => {
      const href = row < 0 ? `#pass=${pass}` : `#${linkOf(this.draws, row)}`;
      const text = row < 0 ? `pass ${pass}` : this.draws.name(row);
      return [h("a", { href, title: `${how}, ${plural(times, "time")}` }, text), " "];
    });
    return [links, found.length > 12 ? "…" : null];
  }
}
