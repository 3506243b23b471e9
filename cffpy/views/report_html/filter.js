// SPDX-License-Identifier: MIT
// The search: words, or an expression of the language of --where without arithmetic and tiles.
// Values of a condition: true, false, null where it is not known.
"use strict";

const TOKEN =
  /\s*(?:(\d+\.\.\d+)|(0x[0-9a-f]+|0b[01]+|0o[0-7]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)(KiB|MiB|GiB|[KMG])?\b|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([a-z_][\w.]*(?:\[(?:\d+|\*|0x[0-9a-f]+)\][\w.]*)*)|(==|!=|<=|>=|!~|[<>~(),]|&&|\|\|))/iy;

const UNITS = { K: 1e3, M: 1e6, G: 1e9, KIB: 1024, MIB: 1024 ** 2, GIB: 1024 ** 3 };

class FilterError extends Error {}

function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new FilterError(`column ${at + 1}: what is ${text.slice(at, at + 12)}?`);
    const [, range, number, unit, quoted, name, sign] = match;
    if (range) found.push({ range: range.split("..").map(Number) });
    else if (number) found.push({ number: Number(number) * (UNITS[(unit ?? "").toUpperCase()] ?? 1) });
    else if (quoted) found.push({ text: quoted.slice(1, -1).replace(/\\(.)/g, "$1") });
    else if (name) found.push({ name });
    else found.push({ sign });
  }
  return found;
}

const not = (value) => (value === null ? null : !value);

function and(values) {
  return values.includes(false) ? false : values.includes(null) ? null : true;
}

function or(values) {
  return values.includes(true) ? true : values.includes(null) ? null : false;
}

// Parses an expression; result.test(row) is true, false or null. names(name) gives a function from
// a row to a list of values, each a number, a text, a boolean or null.
class FilterParser {
  constructor(text, names) {
    this.tokens = tokens(text);
    this.names = names;
    this.position = 0;
    this.depth = 0;
  }

  static parse(text, names) {
    const parser = new FilterParser(text, names);
    const test = parser.either();
    if (parser.position < parser.tokens.length) throw new FilterError(parser.unexpected());
    return test;
  }

  unexpected() {
    const one = this.tokens[this.position];
    if (!one) return "the expression ends too early";
    const shown = one.name ?? one.sign ?? one.text ?? one.number ?? "a range";
    return `${shown} is not expected here`;
  }

  // Takes the next token if it is this sign or word.
  take(...words) {
    const one = this.tokens[this.position];
    const word = one && (one.sign ?? one.name);
    if (word === undefined || !words.includes(word.toLowerCase())) return null;
    this.position++;
    return word.toLowerCase();
  }

  need(sign) {
    if (!this.take(sign)) throw new FilterError(`${this.unexpected()}: ${sign} is missing`);
  }

  either() {
    const parts = [this.both()];
    while (this.take("or", "||")) parts.push(this.both());
    return parts.length === 1 ? parts[0] : (row) => or(parts.map((one) => one(row)));
  }

  both() {
    const parts = [this.negated()];
    while (this.take("and", "&&")) parts.push(this.negated());
    return parts.length === 1 ? parts[0] : (row) => and(parts.map((one) => one(row)));
  }

  negated() {
    if (++this.depth > 100) throw new FilterError("the expression is nested too deep");
    if (this.take("not")) {
      const inner = this.negated();
      return (row) => not(inner(row));
    }
    if (this.take("(")) {
      const inner = this.either();
      this.need(")");
      return inner;
    }
    return this.comparison();
  }

  comparison() {
    const one = this.tokens[this.position++];
    if (!one?.name) {
      this.position--;
      throw new FilterError(this.unexpected());
    }
    const called = one.name.toLowerCase();
    if (["changed", "written", "marker", "unknown"].includes(called) && this.take("(")) {
      return this.call(called);
    }
    const values = this.names.values(one.name);
    const sign = this.take("==", "!=", "<", "<=", ">", ">=", "~", "!~", "in", "not");
    if (!sign) return (row) => or(values(row).map(truth));
    if (sign === "not") this.need("in");
    if (sign === "in" || sign === "not") {
      const members = this.members();
      const holds = (row) => or(values(row).map((value) => isMember(value, members)));
      return sign === "in" ? holds : (row) => not(holds(row));
    }
    const other = this.tokens[this.position++];
    const wanted = other?.number ?? other?.text ?? other?.name;
    if (wanted === undefined) {
      this.position--;
      throw new FilterError(this.unexpected());
    }
    const test = comparer(sign, wanted);
    return (row) => or(values(row).map((value) => (value === null ? null : test(value))));
  }

  call(name) {
    const one = this.tokens[this.position++];
    const given = one?.name ?? one?.text;
    if (given === undefined) throw new FilterError(`${name}() needs a name`);
    this.need(")");
    if (name === "marker") return this.names.marker(new RegExp(given, "u"));
    if (name === "unknown") {
      const values = this.names.values(given);
      return (row) => values(row).every((value) => value === null);
    }
    return name === "changed" ? this.names.changed(given) : this.names.written(given);
  }

  members() {
    const found = [];
    const hasMany = this.take("(");
    do {
      const one = this.tokens[this.position++];
      const value = one?.range ?? one?.number ?? one?.text ?? one?.name;
      if (value === undefined) throw new FilterError("in needs values");
      found.push(value);
    } while (hasMany && this.take(","));
    if (hasMany) this.need(")");
    return found;
  }
}

const truth = (value) => (value === null ? null : Boolean(value) && value !== "false");

function isMember(value, members) {
  if (value === null) return null;
  return members.some((one) =>
    Array.isArray(one) ? value >= one[0] && value <= one[1] : comparer("==", one)(value),
  );
}

function comparer(sign, wanted) {
  if (sign === "~" || sign === "!~") {
    let pattern;
    try {
      pattern = new RegExp(String(wanted), "u");
    } catch (problem) {
      throw new FilterError(problem.message);
    }
    return (value) => pattern.test(String(value)) === (sign === "~");
  }
  const isNumber = typeof wanted === "number";
  const compare = (value) => {
    if (typeof value === "boolean") value = isNumber ? Number(value) : String(value);
    if (isNumber) return typeof value === "number" ? Math.sign(value - wanted) : NaN;
    const [one, other] = [String(value).toLowerCase(), wanted.toLowerCase()];
    return one === other ? 0 : one < other ? -1 : 1;
  };
  switch (sign) {
    case "==":
      return (value) => compare(value) === 0;
    case "!=":
      return (value) => compare(value) !== 0;
    case "<":
      return (value) => compare(value) < 0;
    case "<=":
      return (value) => compare(value) <= 0;
    case ">":
      return (value) => compare(value) > 0;
    default:
      return (value) => compare(value) >= 0;
  }
}

// A text of the document as the value that it stands for.
function valueOf(text) {
  if (/^-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(text)) {
    return text.startsWith("-") ? -Number(text.slice(1)) : Number(text);
  }
  return /^(?:true|false)$/i.test(text) ? text.toLowerCase() === "true" : text;
}

// The names of an expression: properties of draws and passes, registers and their fields.
class FilterNames {
  constructor(draws, registers) {
    this.draws = draws;
    this.registers = registers;
    const { columns } = draws;
    const size = (pick) => (row) => [pick(draws.pass(row)) ?? null];
    const cell = (name) => (row) => [columns[name][row]];
    const flag = (name) => (row) => [Boolean(columns[name][row])];
    const text = (name) => (row) => [word(columns[name], row)];
    this.known = {
      "draw.kind": text("kind"),
      "draw.packet": text("packet"),
      "draw.primitive": text("primitive"),
      "draw.executed": cell("executed"),
      "draw.lrz": text("lrz"),
      "draw.name": (row) => [draws.name(row)],
      "draw.number": cell("number"),
      "draw.dump": cell("dump"),
      "draw.vertices": cell("vertices"),
      "draw.instances": cell("instances"),
      "draw.visible": cell("visible"),
      "draw.indexed": flag("indexed"),
      "draw.indirect": flag("indirect"),
      "draw.gpuaddr": (row) => [Number(columns.gpuaddr[row])],
      "draw.submit": size((one) => one.submit),
      "target.name": (row) => draws.targets(row).map((target) => target[0]),
      "target.format": (row) => draws.targets(row).map((target) => target[1]),
      "target.address": (row) => draws.targets(row).map((target) => target[2] && Number(target[2])),
      "pass.index": size((one) => one.pass),
      "pass.kind": size((one) => one.kind),
      "pass.mode": size((one) => one.mode),
      "pass.submit": size((one) => one.submit),
      "pass.binning": size((one) => one.hardware_binning),
      "pass.width": size((one) => one.framebuffer?.[0]),
      "pass.height": size((one) => one.framebuffer?.[1]),
      "pass.layers": size((one) => one.layers),
      "pass.samples": size((one) => one.samples),
      "pass.tiles": size((one) => one.tile_count),
      "pass.draws": size((one) => one.draws[1]),
    };
  }

  values(name) {
    const property = this.known[name.toLowerCase()];
    if (property) return property;
    const shader = /^draw\.shaders\.(\w+)$/i.exec(name);
    if (shader) {
      const stage = shader[1].toUpperCase();
      return (row) => {
        const found = this.draws.programs(row).find(([one]) => one === stage);
        return [found ? Number(found[1]) : null];
      };
    }
    const found = this.fields(name);
    return (row) => {
      const values = found.map(([column, field]) => this.value(column, field, row));
      return values.length ? values : [null];
    };
  }

  value(column, field, row) {
    const now = this.registers.at(column, row);
    if (now === null || now.value < 0) return null;
    if (field === null) return Number(this.registers.digits(column, now.value));
    const text = (column.values[now.value][2] ?? {})[field];
    return text === undefined ? null : valueOf(text);
  }

  // [[column, index of the field or null]] of a name, of all elements where it has [*].
  fields(name) {
    if (!this.registers) throw new FilterError("the registers are not in the page");
    const wanted = plainName(name);
    const pick = (full, field) => {
      const escaped = full.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("\\[\\*\\]", "\\[\\d+\\]");
      const pattern = new RegExp(`^${escaped}$`);
      const columns = this.registers.columns.filter((one) => pattern.test(plainName(one.name)));
      if (field === null) return columns.map((column) => [column, null]);
      return columns.flatMap((column) => {
        const index = column.fields.findIndex(([one]) => one.toUpperCase() === field);
        return index < 0 ? [] : [[column, String(index)]];
      });
    };
    const dot = wanted.lastIndexOf(".");
    let found = pick(wanted, null);
    if (!found.length && dot > 0) found = pick(wanted.slice(0, dot), wanted.slice(dot + 1));
    if (!found.length) throw new FilterError(`no packet of this capture writes ${name}`);
    return found;
  }

  changed(name) {
    const found = this.fields(name);
    return (row) => or(found.map(([column, field]) => this.value(column, field, row) !== this.value(column, field, row - 1)));
  }

  written(name) {
    const found = this.fields(name);
    return (row) => or(found.map(([column]) => column.draws[changeAt(column, row)] === row));
  }

  marker(pattern) {
    return (row) => this.draws.pass(row).markers.some((one) => pattern.test(one));
  }
}

// Whether a search is an expression rather than words.
const isExpression = (text) => /[=<>~(]|^\s*not\s|\b(?:in|and|or)\s|^\s*(?:draw|pass|target)\.\w/i.test(text);
