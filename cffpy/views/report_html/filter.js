// SPDX-License-Identifier: MIT
// The search: words, or an expression of the language of --where (grammars/filter.lark).
// Values of a condition: true, false, null where it is not known.
"use strict";

const TOKEN =
  /\s*(?:(0x[0-9a-f_]+|0b[01_]+|0o[0-7_]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)(KiB|MiB|GiB|[KMG])?(?![0-9a-z_])|("[^"\n]*"|'[^'\n]*')|([0-9]*[a-z_]\w*(?:\[(?:\d+|\*|0x[0-9a-f]+)\])?(?:\.\w+(?:\[(?:\d+|\*|0x[0-9a-f]+)\])?)*)|(\.\.|==|!=|<=|>=|!~|&&|\|\||[<>~(),[\]+*&-]))/iy;

const UNITS = { K: 1e3, M: 1e6, G: 1e9, KIB: 1024, MIB: 1024 ** 2, GIB: 1024 ** 3 };

const FUNCTIONS = ["all", "any", "changed", "marker", "sampled", "unknown", "written"];

class FilterError extends Error {}

function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new FilterError(`column ${at + 1}: what is ${text.slice(at, at + 12)}?`);
    const [, number, unit, quoted, name, sign] = match;
    if (number) found.push({ number: Number(number.replaceAll("_", "")) * (UNITS[(unit ?? "").toUpperCase()] ?? 1) });
    else if (quoted) found.push({ text: quoted.slice(1, -1) });
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

// Of several values one suffices, with isAll each has to do; without any, nothing is known.
function joined(results, isAll) {
  return results.length ? (isAll ? and : or)(results) : null;
}

const ARITHMETIC = {
  "+": (one, other) => one + other,
  "-": (one, other) => one - other,
  "*": (one, other) => one * other,
  "&": (one, other) => (Number.isInteger(one) && Number.isInteger(other) ? Number(BigInt(one) & BigInt(other)) : null),
};

// A number for arithmetic; null for other values, such as the word of an enum.
const numeric = (value) => (typeof value === "boolean" ? Number(value) : typeof value === "number" ? value : null);

// Parses an expression. A node is a condition { test(row) }, or a value { get(row) }: a list of
// numbers, texts, booleans and nulls; { word } is a name that may stand for a value of the other
// side.
class FilterParser {
  constructor(text, names) {
    this.tokens = tokens(text);
    this.names = names;
    this.position = 0;
    this.depth = 0;
    this.isAll = false;
  }

  // The condition: a function of a row.
  static parse(text, names) {
    const parser = new FilterParser(text, names);
    const test = parser.condition(parser.either());
    if (parser.position < parser.tokens.length) throw new FilterError(parser.unexpected());
    return test;
  }

  unexpected() {
    const one = this.tokens[this.position];
    if (!one) return "the expression ends too early";
    const shown = one.name ?? one.sign ?? one.text ?? one.number;
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

  // -- nodes ----------------------------------------------------------------------------------------

  // A node as a condition: a value holds if it is not 0.
  condition(node) {
    if (node.test) return node.test;
    const { get } = this.value(node);
    const { isAll } = this;
    return (row) => joined(get(row).map(truth), isAll);
  }

  // A node as a value.
  value(node) {
    if (node.word !== undefined) return { get: this.names.values(node.word) };
    if (!node.get) throw new FilterError("a condition is not a value that can be compared");
    return node;
  }

  // The other side of a comparison, where a word that is not a name stands for itself.
  other(node) {
    if (node.word === undefined || this.names.has(node.word)) return this.value(node);
    return { get: () => [node.word] };
  }

  either() {
    const parts = [this.both()];
    while (this.take("or", "||")) parts.push(this.both());
    if (parts.length === 1) return parts[0];
    const tests = parts.map((one) => this.condition(one));
    return { test: (row) => or(tests.map((one) => one(row))) };
  }

  both() {
    const parts = [this.negated()];
    while (this.take("and", "&&")) parts.push(this.negated());
    if (parts.length === 1) return parts[0];
    const tests = parts.map((one) => this.condition(one));
    return { test: (row) => and(tests.map((one) => one(row))) };
  }

  negated() {
    if (++this.depth > 100) throw new FilterError("the expression is nested too deep");
    if (!this.take("not")) return this.comparison();
    const inner = this.condition(this.negated());
    return { test: (row) => not(inner(row)) };
  }

  comparison() {
    const node = this.sum();
    const sign = this.take("==", "!=", "<", "<=", ">", ">=", "~", "!~", "in", "not");
    if (!sign) return node;
    if (sign === "not") this.need("in");
    if (sign === "in" || sign === "not") return this.within(node, sign === "not");
    if (sign === "~" || sign === "!~") return this.match(node, sign === "!~");
    return this.compare(node, sign);
  }

  compare(node, sign) {
    const other = this.sum();
    const isSwapped = node.word !== undefined && !this.names.has(node.word) && other.word !== undefined && this.names.has(other.word);
    const left = isSwapped ? this.other(node) : this.value(node);
    const right = this.other(other);
    return { test: this.pairs(left, right, COMPARE[sign]) };
  }

  // Compares each value of one side with each of the other.
  pairs(left, right, test) {
    const { isAll } = this;
    return (row) => {
      const others = right.get(row);
      const results = left.get(row).flatMap((one) => others.map((other) => (one === null || other === null ? null : test(order(one, other)))));
      return joined(results, isAll);
    };
  }

  within(node, isNegated) {
    const { get } = this.value(node);
    const { isAll } = this;
    const members = this.members();
    const holds = (row) => joined(get(row).map((value) => isMember(value, members)), isAll);
    return { test: isNegated ? (row) => not(holds(row)) : holds };
  }

  match(node, isNegated) {
    const { get } = this.value(node);
    const { isAll } = this;
    const pattern = expression(this.tokens[this.position]?.text ?? this.fail("~ needs a text in quotes"));
    this.position++;
    const holds = (row) => joined(get(row).map((value) => (value === null ? null : pattern.test(String(value)))), isAll);
    return { test: isNegated ? (row) => not(holds(row)) : holds };
  }

  fail(text) {
    throw new FilterError(text);
  }

  // Values and ranges [low, high].
  members() {
    const found = [];
    const opened = this.take("(", "[");
    do {
      const low = this.member();
      found.push(this.take("..") ? [low, this.member()] : low);
    } while (opened && this.take(","));
    if (opened) this.need(opened === "(" ? ")" : "]");
    return found;
  }

  member() {
    const sign = this.take("-") ? -1 : 1;
    const one = this.tokens[this.position++];
    const value = one?.number === undefined ? one?.text ?? one?.name : sign * one.number;
    if (value === undefined) throw new FilterError("in needs values");
    return value;
  }

  sum() {
    return this.arithmetic(() => this.product(), "+", "-");
  }

  product() {
    return this.arithmetic(() => this.factor(), "*", "&");
  }

  arithmetic(term, ...signs) {
    let left = term();
    for (let sign = this.take(...signs); sign; sign = this.take(...signs)) {
      const [one, other] = [this.value(left), this.value(term())];
      const apply = ARITHMETIC[sign];
      left = {
        get: (row) => {
          const others = other.get(row).map(numeric);
          return one.get(row).map(numeric).flatMap((first) => others.map((second) => (first === null || second === null ? null : apply(first, second))));
        },
      };
    }
    return left;
  }

  factor() {
    if (!this.take("-")) return this.atom();
    const { get } = this.value(this.atom());
    return { get: (row) => get(row).map(numeric).map((value) => (value === null ? null : -value)) };
  }

  atom() {
    const one = this.tokens[this.position];
    if (this.take("(")) {
      const inner = this.either();
      this.need(")");
      return inner;
    }
    if (!one || one.sign) throw new FilterError(this.unexpected());
    this.position++;
    if (one.name === undefined) {
      const values = [one.number ?? one.text];
      return { get: () => values };
    }
    return this.take("(") ? { test: this.call(one.name.toLowerCase()) } : { word: one.name };
  }

  call(name) {
    if (!FUNCTIONS.includes(name)) throw new FilterError(`the page has no function ${name}`);
    if (name === "sampled") {
      const address = this.value(this.sum());
      this.need(")");
      return this.pairs({ get: this.names.descriptors("texture", "address") }, address, COMPARE["=="]);
    }
    if (name === "all" || name === "any") {
      const before = this.isAll;
      this.isAll = name === "all";
      const test = this.condition(this.either());
      this.isAll = before;
      this.need(")");
      return test;
    }
    const node = this.either();
    this.need(")");
    if (name === "unknown") return this.unknown(node);
    if (name === "marker") return this.names.marker(expression(node.get?.(-1)[0] ?? this.fail("marker takes a regular expression in quotes")));
    if (node.word === undefined) throw new FilterError(`${name} takes a register or a field`);
    return this.names[name](node.word);
  }

  unknown(node) {
    if (node.test) return (row) => node.test(row) === null;
    const { get } = this.value(node);
    return (row) => get(row).includes(null);
  }
}

const truth = (value) => (value === null ? null : Boolean(value) && value !== "false");

function isMember(value, members) {
  if (value === null) return null;
  return members.some((one) =>
    Array.isArray(one) ? order(value, one[0]) >= 0 && order(value, one[1]) <= 0 : order(value, one) === 0,
  );
}

function expression(text) {
  try {
    return new RegExp(String(text), "u");
  } catch (problem) {
    throw new FilterError(problem.message);
  }
}

// -1, 0, 1; NaN for a text and a number. Words are compared in any case.
function order(one, other) {
  const [left, right] = [one, other].map((value) => (typeof value === "boolean" ? Number(value) : value));
  if (typeof left === "number" && typeof right === "number") return Math.sign(left - right);
  if (typeof one === "boolean" && typeof other === "string") return String(one) === other.toLowerCase() ? 0 : NaN;
  if (typeof left !== "string" || typeof right !== "string") return NaN;
  const [first, second] = [left.toLowerCase(), right.toLowerCase()];
  return first === second ? 0 : first < second ? -1 : 1;
}

const COMPARE = {
  "==": (found) => found === 0,
  "!=": (found) => found !== 0,
  "<": (found) => found < 0,
  "<=": (found) => found <= 0,
  ">": (found) => found > 0,
  ">=": (found) => found >= 0,
};

// A text of the document as the value that it stands for.
function valueOf(text) {
  if (/^-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(text)) {
    return text.startsWith("-") ? -Number(text.slice(1)) : Number(text);
  }
  return /^(?:true|false)$/i.test(text) ? text.toLowerCase() === "true" : text;
}

// Properties of descriptors that are no fields: of a place, and of what is bound there.
const PLACES = {
  address: (_place, bound) => bound.gpuaddr && Number(bound.gpuaddr),
  stage: (place) => place.stage,
  set: (place) => place.set,
  slot: (place) => place.slot,
};

const DESCRIPTOR = /^(texture|sampler|storage)\.(\w+)$/i;

const PROGRAM = /^draw\.shaders\.(\w+?)(?:\.(\w+))?$/i;

// Which parts of the data an expression needs besides the draws.
function partsOf(text) {
  const wanted = ["registers"];
  if (/\b(?:texture|sampler|storage)\.|\bsampled\s*\(/i.test(text)) wanted.push("bindings");
  if (/\bdraw\.shaders\.\w+\./i.test(text)) wanted.push("shaders");
  return wanted;
}

// The names of an expression: properties of draws and passes, registers and their fields, fields of
// descriptors, numbers of shaders. registers, bindings, shaders: null where they are not in the page.
class FilterNames {
  constructor(draws, { registers, bindings, shaders }) {
    this.draws = draws;
    this.registers = registers;
    this.bindings = bindings;
    this.shaders = shaders;
    const { columns } = draws;
    const size = (pick) => (row) => [pick(draws.pass(row)) ?? null];
    const cell = (name) => (row) => [columns[name][row]];
    const flag = (name) => (row) => [Boolean(columns[name][row])];
    const text = (name) => (row) => [word(columns[name], row)];
    this.known = {
      "draw.kind": text("kind"),
      "draw.role": (row) => [word(columns.role, row)],
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
      "draw.groups_x": (row) => [columns.groups[row]?.[0] ?? null],
      "draw.groups_y": (row) => [columns.groups[row]?.[1] ?? null],
      "draw.groups_z": (row) => [columns.groups[row]?.[2] ?? null],
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
      "pass.views": size((one) => one.views),
      "pass.bin_width": size((one) => one.bin_size?.[0]),
      "pass.bin_height": size((one) => one.bin_size?.[1]),
      "pass.markers": (row) => draws.pass(row).markers,
    };
  }

  // Whether a name is that of a property or of a register, and not just a word.
  has(name) {
    if (name.includes(".") || name.includes("[") || this.known[name.toLowerCase()]) return true;
    return this.registers?.byName.has(plainName(name)) ?? false;
  }

  values(name) {
    const property = this.known[name.toLowerCase()];
    if (property) return property;
    const shader = PROGRAM.exec(name);
    if (shader) return this.program(shader[1].toUpperCase(), shader[2]?.toLowerCase());
    const descriptor = DESCRIPTOR.exec(name);
    if (descriptor) return this.descriptors(descriptor[1].toLowerCase(), descriptor[2]);
    const found = this.fields(name);
    return (row) => {
      const values = found.map(([column, field]) => this.value(column, field, row));
      return values.length ? values : [null];
    };
  }

  // The address of a stage's program, or a number of it.
  program(stage, name) {
    const read = name ? this.statistic(name) : (address) => Number(address);
    return (row) => {
      const found = this.draws.programs(row).find(([one]) => one === stage);
      return [found ? read(found[1], found[2]) : null];
    };
  }

  statistic(name) {
    if (!this.shaders) throw new FilterError("the shaders are not in the page");
    const category = /^cat(\d)$/.exec(name);
    const read = (one) => {
      if (name === "instructions" || name === "bytes") return one[name];
      return (category ? one.statistics?.cat[category[1]] : one.statistics?.[name]) ?? null;
    };
    const isKnown = (one) => !one.statistics || read(one) !== null;
    if (name === "cat" || !this.shaders.every(isKnown)) throw new FilterError(`shaders have no number ${name}`);
    return (_address, shader) => (shader < 0 ? null : read(this.shaders[shader]));
  }

  // A field of each descriptor of a kind that a draw has bound, or where it is bound.
  descriptors(kind, name) {
    if (!this.bindings) throw new FilterError("what draws have bound is not in the page");
    const { places, values } = this.bindings;
    const chosen = places.filter((one) => one.kind === kind);
    const read = PLACES[name.toLowerCase()] ?? fieldReader(name.toUpperCase());
    const isField = !PLACES[name.toLowerCase()];
    const has = (index) => values[index]?.fields?.some(([one]) => one.toUpperCase() === name.toUpperCase());
    if (isField && !chosen.some((one) => one.value.some(has))) throw new FilterError(`no ${kind} of this capture has a field ${name}`);
    return (row) =>
      chosen.flatMap((place) => {
        const change = changeAt(place, row);
        const value = change < 0 ? -1 : place.value[change];
        return value < 0 ? [] : [read(place, values[value])];
      });
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

// Reads a field of a descriptor; null where the descriptor was not captured.
function fieldReader(name) {
  return (_place, bound) => {
    const found = bound.fields?.find(([one]) => one.toUpperCase() === name);
    return found ? valueOf(found[3]) : null;
  };
}

// Whether a search is an expression rather than words.
const isExpression = (text) =>
  /[=<>~(&*]|^\s*not\s|\b(?:in|and|or)\s|^\s*(?:draw|pass|target|texture|sampler|storage)\.\w/i.test(text);
