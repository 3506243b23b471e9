// SPDX-License-Identifier: MIT
// Elements from values. Text is set as text: nothing here makes markup of a string.
"use strict";

// h("td", { class: "count", onclick: handler }, "text", element, [more], null)
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// The same for SVG.
function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : visible(String(child)));
  }
}

function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

// Control characters, and those that change the direction of text, as escapes.
function visible(text) {
  return text.replace(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]/gu,
    (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`,
  );
}

const numberFormat = new Intl.NumberFormat("en-US");

// 1234567 -> 1,234,567; null -> ?
function count(number) {
  return number === null || number === undefined ? "?" : numberFormat.format(number);
}

function plural(number, noun, more = `${noun}s`) {
  return `${count(number)} ${number === 1 ? noun : more}`;
}

// A table: headings, and rows of cells, the first of which heads its row.
function table(headings, rows, attributes = {}) {
  const head = h("tr", {}, headings.map((text) => h("th", { scope: "col" }, text)));
  const body = rows.map(([first, ...rest]) =>
    h("tr", {}, h("th", { scope: "row" }, first), rest.map((cell) => h("td", {}, cell))),
  );
  return h("table", attributes, h("thead", {}, head), h("tbody", {}, body));
}
