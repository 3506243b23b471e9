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

// Parses an expression. A node is a condition { test(row) }, or a value: get(row) is a list of
// numbers, texts, booleans and nulls; kind what they are compared as ("any": the page does not know);
// words the words that stand for values, by name; show(value) a value as text; isMany whether there
// may be several. { word } is a name that may stand for a value of the other side.
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
    const { get, kind, name } = this.value(node);
    if (kind === "text") throw new FilterError(`${name} is a text, not a condition`);
    const { isAll } = this;
    return (row) => joined(get(row).map(truth), isAll);
  }

  // A node as a value.
  value(node) {
    if (node.word !== undefined) return this.names.operand(node.word);
    if (!node.get) throw new FilterError("a condition is not a value that can be compared");
    return node;
  }

  // A node as a value that can be calculated with.
  number(node) {
    const found = this.value(node);
    if (found.kind === "text") throw new FilterError(`${found.name} is not a number`);
    if (found.isMany) throw new FilterError("several values cannot be calculated with");
    return found;
  }

  isName(node) {
    return node.word !== undefined && this.names.has(node.word);
  }

  // A node that is compared with another one, whose words it may be.
  other(node, found) {
    const { words, kind, name } = found;
    const text = node.word ?? (node.literal && kind !== "text" ? node.literal : undefined);
    const isWord = text !== undefined && (!this.isName(node) || words?.has(text));
    if (isWord && words) return constant(wordValue(words, text, name), text);
    if (node.word !== undefined && !this.isName(node) && (kind === "text" || kind === "any")) return constant(node.word, node.word);
    return this.value(node);
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
    const second = this.sum();
    const isSwapped = node.word !== undefined && !this.isName(node) && this.isName(second);
    const found = this.value(isSwapped ? second : node);
    const other = this.other(isSwapped ? node : second, found);
    checkKinds(found, other, sign);
    const [left, right] = isSwapped ? [other, found] : [found, other];
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
    const found = this.value(node);
    const { isAll } = this;
    const members = this.members(found);
    const holds = (row) => joined(found.get(row).map((value) => isMember(value, members)), isAll);
    return { test: isNegated ? (row) => not(holds(row)) : holds };
  }

  match(node, isNegated) {
    const { get, show } = this.value(node);
    const { isAll } = this;
    const pattern = expression(this.tokens[this.position]?.text ?? this.fail("~ needs a text in quotes"));
    this.position++;
    const holds = (row) => joined(get(row).map((value) => (value === null ? null : pattern.test((show ?? String)(value)))), isAll);
    return { test: isNegated ? (row) => not(holds(row)) : holds };
  }

  fail(text) {
    throw new FilterError(text);
  }

  // Values and ranges [low, high] that a value may be.
  members(found) {
    const members = [];
    const opened = this.take("(", "[");
    do {
      const low = this.member(found);
      if (this.take("..")) {
        if (found.kind === "text") throw new FilterError("a range is one of numbers");
        members.push([low, this.member(found)]);
      } else members.push(low);
    } while (opened && this.take(","));
    if (opened) this.need(opened === "(" ? ")" : "]");
    return members;
  }

  member(found) {
    const sign = this.take("-") ? -1 : 1;
    const one = this.tokens[this.position++];
    if (one?.number !== undefined) {
      checkKinds(found, constant(sign * one.number, String(one.number)), "in");
      return sign * one.number;
    }
    if (one?.text === undefined && one?.name === undefined) throw new FilterError("in needs values");
    const node = one.name === undefined ? { ...constant(one.text, one.text), literal: one.text } : { word: one.name };
    const other = this.other(node, found);
    checkKinds(found, other, "in");
    return other.get(-1)[0];
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
      const [one, other] = [this.number(left), this.number(term())];
      const apply = ARITHMETIC[sign];
      left = {
        name: "",
        kind: "number",
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
    const { get, isMany, kind, name } = this.value(this.atom());
    if (kind === "text") throw new FilterError(`${name} is not a number`);
    return { name: "", kind: "number", isMany, get: (row) => get(row).map(numeric).map((value) => (value === null ? null : -value)) };
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
    if (one.number !== undefined) return constant(one.number, String(one.number));
    if (one.name === undefined) return { ...constant(one.text, one.text), literal: one.text };
    return this.take("(") ? { test: this.call(one.name.toLowerCase()) } : { word: one.name };
  }

  call(name) {
    if (!FUNCTIONS.includes(name)) throw new FilterError(`there is no function ${name}${nearest(name, FUNCTIONS)}`);
    if (name === "sampled") {
      const address = this.number(this.sum());
      this.need(")");
      return this.pairs({ get: this.names.descriptors("texture", "address", (one) => one.reads) }, address, COMPARE["=="]);
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
    if (name === "marker") return this.names.marker(expression(node.literal ?? this.fail("marker takes a regular expression in quotes")));
    if (node.word === undefined || this.names.isProperty(node.word)) throw new FilterError(`${name} takes a register or a field`);
    return this.names[name](node.word);
  }

  unknown(node) {
    if (node.test) return (row) => node.test(row) === null;
    const { get } = this.value(node);
    return (row) => get(row).includes(null);
  }
}

// A literal, or a word that stands for a value.
const constant = (value, name) => ({ name, kind: typeof value === "string" ? "text" : "number", get: () => [value] });

// The value of a word in upper or lower case.
function wordValue(words, word, subject) {
  if (words.has(word)) return words.get(word);
  const folded = word.toLowerCase();
  for (const [name, value] of words) if (name.toLowerCase() === folded) return value;
  throw new FilterError(`${subject} has no value ${word}${nearest(word, [...words.keys()])}`);
}

// A text is compared with texts, by few signs.
function checkKinds(one, other, sign) {
  const kinds = [one, other].map(({ kind }) => kind);
  if (!kinds.includes("text") || kinds.includes("any")) return;
  const [text, second] = one.kind === "text" ? [one, other] : [other, one];
  if (second.kind !== "text") throw new FilterError(`${text.name} is a text, ${second.name || "the other"} is not`);
  if (!["==", "!=", "in"].includes(sign)) throw new FilterError(`${text.name} is a text: compare it by ==, != or ~`);
}

// The end of an error message: the names that are spelt most like a word.
function nearest(word, known) {
  const wanted = word.toUpperCase();
  const far = Math.max(1, Math.floor(wanted.length / 3));
  const close = known
    .map((name) => [distance(wanted, name.toUpperCase(), far), name])
    .filter(([steps]) => steps <= far)
    .sort((one, other) => one[0] - other[0]);
  return close.length ? `; did you mean ${close.slice(0, 3).map(([, name]) => name).join(" or ")}?` : "";
}

// How many characters have to be changed; more than most where that is far.
function distance(one, other, most) {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let to = 1; to <= other.length; to++) {
      next[to] = Math.min(row[to] + 1, next[to - 1] + 1, row[to - 1] + (one[at - 1] === other[to - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[other.length];
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

// -1, 0, 1; NaN for a text and a number.
function order(one, other) {
  const [left, right] = [one, other].map((value) => (typeof value === "boolean" ? Number(value) : value));
  if (typeof left !== typeof right) return NaN;
  return left === right ? 0 : left < right ? -1 : left > right ? 1 : NaN;
}

const COMPARE = {
  "==": (found) => found === 0,
  "!=": (found) => found !== 0,
  "<": (found) => found < 0,
  "<=": (found) => found <= 0,
  ">": (found) => found > 0,
  ">=": (found) => found >= 0,
};

// Whether a search is an expression rather than words.
const isExpression = (text) =>
  /[=<>~(&*]|^\s*not\s|\b(?:in|and|or)\s|^\s*(?:draw|pass|tile|target|source|destination|(?:bound_)?(?:texture|sampler|storage))\.\w/i.test(text);

// Whether it may be the name of a register or of a field, alone.
const isOneName = (text) => /^[a-z]\w*(?:\[(?:\d+|\*|0x[0-9a-f]+)\])?(?:\.\w+(?:\[(?:\d+|\*|0x[0-9a-f]+)\])?)*$/i.test(text);
