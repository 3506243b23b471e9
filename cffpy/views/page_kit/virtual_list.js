// SPDX-License-Identifier: MIT
// A list of which only the rows in sight are elements, however many there are.
"use strict";

class VirtualList {
  // height: of a row in pixels. render(index): a row's element. choose(index): a row is clicked.
  constructor(box, height, label, render, choose) {
    this.box = box;
    this.height = height;
    this.render = render;
    this.length = 0;
    this.current = -1;
    this.rows = new Map();
    this.space = h("div", { class: "list-space", role: "presentation" });
    box.classList.add("list");
    box.setAttribute("role", "listbox");
    box.setAttribute("aria-label", label);
    box.tabIndex = 0;
    box.append(this.space);
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    box.addEventListener("click", (event) => {
      const row = event.target.closest("[data-index]");
      if (row) choose(Number(row.dataset.index));
    });
    new ResizeObserver(() => this.draw()).observe(box);
  }

  // Show this many rows, all made anew.
  reset(length) {
    this.length = length;
    this.space.style.height = `${length * this.height}px`;
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 10);
    const shown = Math.ceil(this.box.clientHeight / this.height) + 20;
    const last = Math.min(this.length, first + shown);
    for (const [index, row] of this.rows) {
      if (index < first || index >= last) {
        row.remove();
        this.rows.delete(index);
      }
    }
    for (let index = first; index < last; index++) {
      if (!this.rows.has(index)) this.add(index);
    }
  }

  add(index) {
    const row = this.render(index);
    row.dataset.index = index;
    row.id = `${this.box.id}-row-${index}`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-setsize", this.length);
    row.setAttribute("aria-posinset", index + 1);
    row.style.top = `${index * this.height}px`;
    this.mark(row, index === this.current);
    this.rows.set(index, row);
    this.space.append(row);
  }

  mark(row, isCurrent) {
    row.classList.toggle("current", isCurrent);
    row.setAttribute("aria-selected", String(isCurrent));
  }

  // Mark a row, and scroll to it if it is out of sight; -1: none.
  select(index) {
    const before = this.rows.get(this.current);
    if (before) this.mark(before, false);
    this.current = index;
    if (index < 0) {
      this.box.removeAttribute("aria-activedescendant");
      return;
    }
    const top = index * this.height;
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop || top + this.height > scrollTop + clientHeight) {
      this.box.scrollTop = Math.max(0, top - clientHeight / 3);
      this.draw();
    }
    const row = this.rows.get(index);
    if (row) this.mark(row, true);
    this.box.setAttribute("aria-activedescendant", `${this.box.id}-row-${index}`);
  }
}
