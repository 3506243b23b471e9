// SPDX-License-Identifier: MIT
// Starts the page: what the fragment of the address names is shown, keys move, the search filters.
"use strict";

const TABS = ["overview", "findings", "differences", "resources", "shaders"];

class App {
  constructor(core) {
    this.core = core;
    this.draws = new Draws(core);
    const at = (id) => document.getElementById(id);
    this.search = at("search");
    this.problem = at("search-problem");
    const go = (target) => this.go(target);
    this.timeline = new Timeline(at("timeline"), core, this.draws, go);
    this.list = new DrawList(at("draws"), core, this.draws, go);
    this.drawPage = new DrawPage(at("draw"), core, this.draws);
    this.shaderPage = new ShaderPage(at("shaders"), this.draws);
    this.dumpPage = new DumpPage(at("packet"), core, this.draws);
    this.resourcePage = new ResourcePage(at("resource-table"), this.draws);
    document.body.classList.add("scripted");
    for (const one of document.querySelectorAll(".scripted[hidden]")) one.hidden = false;
    document.querySelector(".toolbar").hidden = false;
    window.addEventListener("hashchange", () => {
      if (location.hash !== this.routed) this.route();
    });
    document.addEventListener("keydown", (event) => this.key(event));
    this.search.addEventListener("input", () => this.find());
    this.search.form.addEventListener("submit", (event) => event.preventDefault());
    this.route();
  }

  // -- the fragment: #overview, #pass=3, #pass=3&draw=57, #row=812, #shader=2, #packet=9; &where=...

  static parse(hash) {
    const found = {};
    for (const pair of hash.replace(/^#/, "").split("&")) {
      const at = pair.indexOf("=");
      const [name, value] = at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
      try {
        if (name) found[name] = decodeURIComponent(value);
      } catch {
        found[name] = value;
      }
    }
    return found;
  }

  where() {
    const text = this.search.value.trim();
    return text ? `&where=${encodeURIComponent(text)}` : "";
  }

  go({ pass, row, tab }) {
    const place = tab ?? (row === undefined ? `pass=${pass}` : linkOf(this.draws, row));
    location.hash = place + this.where();
    this.route(); // at once: the event comes later, and the next key starts from here
  }

  route() {
    this.routed = location.hash;
    const start = document.getElementById("content").dataset.start ?? "";
    const wanted = App.parse(location.hash || start);
    if (wanted.where !== undefined && wanted.where !== this.search.value.trim()) {
      this.search.value = wanted.where;
      this.find();
    } else {
      this.find();
    }
    const number = (text) => (/^\d+$/.test(text ?? "") ? Number(text) : null);
    let pass = number(wanted.pass);
    let row = -1;
    if (number(wanted.row) !== null && Number(wanted.row) < this.draws.length) {
      row = Number(wanted.row);
      pass = this.draws.fact(row, "pass");
    } else if (pass !== null && number(wanted.draw) !== null) {
      row = this.draws.row(pass, Number(wanted.draw));
    }
    if (!this.draws.passes.has(pass)) pass = null;
    const tab = TABS.find((name) => name in wanted);
    const view =
      row >= 0 ? "draw" : pass !== null ? `pass=${pass}` : "shader" in wanted ? "shaders" : "packet" in wanted ? "packet" : tab ?? "overview";
    this.place = { pass, row };
    this.timeline.select(pass, row);
    this.list.select(pass, row);
    this.show(view, wanted);
  }

  show(view, wanted) {
    if (view.startsWith("pass=")) showPassPictures(this.draws.passes.get(this.place.pass));
    if (view === "draw") this.drawPage.show(this.place.row);
    if (view === "shaders") this.shaderPage.show(Number(wanted.shader ?? NaN));
    if (view === "packet") this.dumpPage.show(Number(wanted.packet));
    if (view === "resources") this.resourcePage.show();
    const isKnown = document.getElementById(view);
    for (const one of document.querySelectorAll("main > .view")) one.hidden = one.id !== (isKnown ? view : "overview");
    document.body.classList.toggle("whole", !["draw", "shaders", "packet"].includes(view));
    const tab = view.startsWith("pass=") || ["draw", "packet"].includes(view) ? "overview" : view;
    for (const link of document.querySelectorAll(".tabs a")) {
      if (link.hash === `#${tab}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.getElementById("content").scrollTop = 0;
    const heading = view === "packet" ? "dump" : view === "draw" ? this.draws.name(this.place.row) : this.place.pass === null ? "" : `pass ${this.place.pass}`;
    document.title = `${heading ? `${heading} – ` : ""}${visible(this.core.file)} – cffpy report`;
  }

  // -- the search -----------------------------------------------------------------------------------

  async find() {
    const text = this.search.value.trim();
    if (text === this.searched) return;
    this.searched = text;
    let test = null;
    let problem = "";
    if (isExpression(text) || isOneName(text)) {
      const found = {};
      for (const name of partsOf(text)) found[name] = await part(name);
      if (this.searched !== text) return;
      this.registers ??= found.registers?.writes ? new Registers(found.registers) : null;
      const names = new FilterNames(this.draws, { ...found, registers: this.registers });
      if (isExpression(text) || names.has(text) || this.isOnlyName(text)) {
        try {
          test = FilterParser.parse(text, names);
        } catch (error) {
          if (!(error instanceof FilterError || error instanceof SyntaxError)) throw error;
          problem = error.message;
        }
      }
    }
    if (text && !test && !problem) test = this.list.words(text);
    replace(this.problem, problem);
    this.search.setAttribute("aria-invalid", String(problem !== ""));
    if (problem) return;
    this.list.filter(test);
    this.list.select(this.place?.pass ?? null, this.place?.row ?? -1);
    const counted = document.getElementById("count");
    counted.textContent = test ? `${count(this.list.matches)} of ${plural(this.draws.length, "draw")}` : plural(this.draws.length, "draw");
    this.remember();
  }

  // Whether a name, such as that of a register that is not written, is in the words of no draw.
  isOnlyName(text) {
    const test = this.list.words(text);
    return text.includes("_") && !Array.from({ length: this.draws.length }, (_, row) => row).some(test);
  }

  // The search in the fragment, so that a link to it can be sent.
  remember() {
    const bare = location.hash.replace(/^#/, "").replace(/&?where=[^&]*/, "") || "overview";
    const hash = `#${bare}${this.where()}`;
    if (hash !== location.hash && (location.hash || this.where())) history.replaceState(null, "", hash);
  }

  // -- keys -----------------------------------------------------------------------------------------

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target } = event;
    const isTyping = target instanceof HTMLElement && target.matches("input:not([type=radio]), select, textarea");
    if (event.key === "Escape") {
      this.search.value = "";
      this.find();
      if (isTyping) target.blur();
    } else if (target === this.search && event.key === "Enter") {
      this.list.list.select(-1);
      this.list.step(1, "draw");
      this.search.blur();
    } else if (isTyping) {
      return;
    } else if (!this.command(event.key, target)) {
      return;
    }
    event.preventDefault();
  }

  command(key, target) {
    const isList = target instanceof Element && target.closest("#draws");
    const steps = { j: [1, "draw"], k: [-1, "draw"], n: [1, "pass"], p: [-1, "pass"] };
    if (isList) Object.assign(steps, { ArrowDown: [1, "draw"], ArrowUp: [-1, "draw"] });
    const modes = { c: "changed", b: "began", a: "all" };
    if (steps[key]) this.list.step(...steps[key]);
    else if (modes[key]) this.drawPage.setMode(modes[key]);
    else if (key === "/") {
      this.search.focus();
      this.search.select();
    } else if (key === "o") this.go({ tab: "overview" });
    else return false;
    return true;
  }
}

part("core").then((core) => {
  if (core) new App(core);
});
