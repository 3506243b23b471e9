// SPDX-License-Identifier: MIT
// Filters, folds and moves. The page can be read without it: everything is in the markup.
"use strict";

(() => {
  const toolbar = document.querySelector(".toolbar");
  if (!toolbar) return;
  const filter = document.getElementById("filter");
  const category = document.getElementById("category");
  const pass = document.getElementById("pass");
  const count = document.getElementById("count");
  const top = [...document.querySelectorAll("#differences > .entry")];
  const pairs = [...document.querySelectorAll("#passes > .pair")];

  // -- entries ------------------------------------------------------------------------------------

  const consequences = (entry) => [...entry.querySelectorAll(":scope > .follows > .entry")];
  const heading = (entry) => entry.querySelector(":scope > .heading");
  const texts = new WeakMap();

  // An entry's own text, without what follows from it.
  function ownText(entry) {
    let text = texts.get(entry);
    if (text === undefined) {
      const own = [...entry.children].filter((child) => !child.classList.contains("follows"));
      text = own.map((child) => child.textContent).join("\n").toLowerCase();
      texts.set(entry, text);
    }
    return text;
  }

  const keyed = (entry) =>
    (!category.value || entry.dataset.categories.split("|").includes(category.value)) &&
    (!pass.value || entry.dataset.pairs.split(" ").includes(pass.value));

  // Shows what matches: an entry with all that follows from it, or only those of what follows that
  // match themselves. Returns whether anything does.
  function show(entry, words) {
    const below = consequences(entry);
    const own = keyed(entry) && words.every((word) => ownText(entry).includes(word));
    if (own) {
      below.forEach((one) => show(one, []));
    } else if (below.map((one) => show(one, words)).some(Boolean)) {
      if (words.length) entry.querySelector(":scope > .follows").open = true;
    } else {
      entry.hidden = true;
      return false;
    }
    entry.hidden = false;
    for (const row of entry.querySelectorAll(":scope > .fields > tbody > .field")) {
      const text = words.length ? row.textContent.toLowerCase() : "";
      row.classList.toggle("match", words.some((word) => text.includes(word)));
    }
    return true;
  }

  function apply() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = top.filter((entry) => show(entry, words)).length;
    for (const pair of pairs) pair.hidden = pass.value !== "" && pair.dataset.pair !== pass.value;
    const noun = top.length === 1 ? "entry" : "entries";
    count.textContent =
      shown === top.length ? `${shown} ${noun}` : `${shown} of ${top.length} ${noun}`;
  }

  function clear() {
    filter.value = category.value = pass.value = "";
    apply();
  }

  // -- moving and folding -------------------------------------------------------------------------

  let current = null;

  function select(entry) {
    if (current) current.classList.remove("current");
    current = entry;
    if (!entry) return;
    entry.classList.add("current");
    const target = heading(entry);
    if (target.tagName !== "SUMMARY") target.tabIndex = -1;
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "nearest" });
  }

  // Entries that can be seen, in order: not filtered out, nor within what is folded.
  function visible() {
    const found = [];
    const visit = (entry) => {
      if (entry.hidden) return;
      found.push(entry);
      const follows = entry.open && entry.querySelector(":scope > .follows");
      if (follows && follows.open) consequences(entry).forEach(visit);
    };
    top.forEach(visit);
    return found;
  }

  function move(step) {
    const entries = visible();
    const at = entries.indexOf(current);
    const next = at < 0 ? (step > 0 ? 0 : entries.length - 1) : at + step;
    if (next >= 0 && next < entries.length) select(entries[next]);
  }

  const toggle = (entry) => {
    if (entry && entry.tagName === "DETAILS") entry.open = !entry.open;
  };

  // Opens an entry or a pass that a link leads to, and whatever it lies in.
  function reveal() {
    const target = document.getElementById(location.hash.slice(1));
    if (!target || !target.matches(".entry, .pair")) return;
    if (target.closest("[hidden]")) clear();
    for (let one = target; one; one = one.parentElement.closest("details")) one.open = true;
    if (target.matches(".entry")) select(target);
    target.scrollIntoView();
  }

  // -- events -------------------------------------------------------------------------------------

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing =
      event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
    if (event.key === "Escape") {
      clear();
      if (typing) event.target.blur();
      if (current && !current.closest("[hidden]")) select(current);
    } else if (event.target === filter && event.key === "Enter") {
      select(visible()[0]);
    } else if (typing) {
      return;
    } else if (event.key === "/") {
      filter.focus();
      filter.select();
    } else if (event.key === "j") {
      move(1);
    } else if (event.key === "k") {
      move(-1);
    } else if (event.key === "o" || (event.key === "Enter" && event.target === document.body)) {
      toggle(current); // Enter on a heading that has the focus is the browser's
    } else {
      return;
    }
    event.preventDefault();
  });

  document.getElementById("differences").addEventListener("focusin", (event) => {
    const entry = event.target.closest(".entry");
    if (entry && event.target === heading(entry) && entry !== current) select(entry);
  });

  const setAll = (open) => () => visible().forEach((entry) => (entry.open = open));
  document.getElementById("open-all").addEventListener("click", setAll(true));
  document.getElementById("close-all").addEventListener("click", setAll(false));
  filter.addEventListener("input", apply);
  category.addEventListener("input", apply);
  pass.addEventListener("input", apply);
  toolbar.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", reveal);
  // a second click on the same link
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link && link.hash === location.hash) reveal();
  });

  toolbar.hidden = false;
  apply();
  reveal();
})();
