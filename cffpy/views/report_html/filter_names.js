// SPDX-License-Identifier: MIT
// The names of the search: what they stand for, and what their values are compared as.
"use strict";

// A register's or a field's value, of the register's digits: a number or a boolean.
function typedValue(digits, type) {
  if (!type) return Number(digits);
  const width = type.high - type.low + 1;
  const bits = (BigInt(digits) >> BigInt(type.low)) & ((1n << BigInt(width)) - 1n);
  if (type.kind === "bool") return bits !== 0n;
  if (type.kind === "float") return realOf(bits, width);
  const isSigned = type.kind === "int" || type.kind === "fixed";
  const number = Number(isSigned ? BigInt.asIntN(width, bits) : bits << BigInt(type.shift ?? 0));
  return number / 2 ** (type.radix ?? 0);
}

function realOf(bits, width) {
  if (width === 64) return new Float64Array(new BigUint64Array([bits]).buffer)[0];
  return width === 32 ? floatOf(Number(bits)) : halfOf(Number(bits));
}

// The words of a type: of its enum, of a flag, of the number of a shader's register.
function wordsOf(type) {
  if (!type) return null;
  if (type.kind === "bool") return new Map([["true", 1], ["false", 0]]);
  if (type.words) return new Map(Object.entries(type.words));
  if (!type.ids) return null;
  const count = 1 << Math.min(10, type.high - type.low + 1);
  return new Map(Array.from({ length: count }, (_, one) => [`r${one >> 2}.${"xyzw"[one & 3]}`, one]));
}

// A value as ~ sees it: the word of an enum; else as Python writes it.
function shownBy(type, words) {
  if (!type || type.kind === "bool") return (value) => (typeof value === "boolean" ? (value ? "True" : "False") : String(value));
  const names = new Map([...(words ?? [])].reverse().map(([name, value]) => [value, name]));
  const isReal = ["float", "fixed", "ufixed"].includes(type.kind);
  return (value) => names.get(value) ?? (isReal && Number.isInteger(value) ? `${value}.0` : String(value));
}

// A text of the document as the value that it stands for.
function valueOf(text) {
  if (/^-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(text)) {
    return text.startsWith("-") ? -Number(text.slice(1)) : Number(text);
  }
  return /^(?:true|false)$/i.test(text) ? text.toLowerCase() === "true" : text;
}

// The values at the end of a path, as in ["targets[]", "address"]; of a list those of all its items.
function valuesAt(value, steps) {
  if (!steps.length) return [value ?? null];
  const [step, ...rest] = steps;
  const name = step.replace("[]", "");
  const found = name ? value?.[name] : value;
  return step.endsWith("[]") ? [found ?? []].flat().flatMap((one) => valuesAt(one, rest)) : valuesAt(found, rest);
}

const PROGRAM = /^draw\.shaders\.(\w+?)(?:\.(\w+))?$/i;

// Which parts of the data an expression needs besides the draws.
function partsOf(text) {
  const wanted = ["registers"];
  if (/\b(?:bound_)?(?:texture|sampler|storage|\w+_buffer)\.|\bsampled\s*\(/i.test(text)) wanted.push("bindings");
  if (/\bdraw\.shaders\.\w+\./i.test(text)) wanted.push("shaders");
  return wanted;
}

// The names of an expression: properties of draws and passes, registers and their fields, fields of
// descriptors, numbers of shaders. What the values of properties and registers are compared as, the
// document says. registers, bindings, shaders: null where they are not in the page.
class FilterNames {
  constructor(draws, { registers, bindings, shaders }) {
    this.draws = draws;
    this.registers = registers;
    this.bindings = bindings;
    this.shaders = shaders;
    this.properties = draws.filter.properties;
    this.stages = draws.filter.stages;
    this.numbers = draws.filter.numbers;
    this.owners = draws.filter.owners;
    this.bindingFacts = draws.filter.bindings;
    this.prefixes = new Set(Object.keys(this.properties).map((name) => name.split(".")[0]));
  }

  // Whether a name is that of a property or of a register, and not just a word.
  has(name) {
    return name.includes(".") || name.includes("[") || this.isRegister(name);
  }

  isRegister(name) {
    return this.registers?.byName.has(plainName(name)) ?? false;
  }

  isProperty(name) {
    return this.prefixes.has(name.toLowerCase().split(".")[0]) && name.includes(".");
  }

  // What a name stands for: a node of the parser.
  operand(name) {
    const shader = PROGRAM.exec(name);
    if (shader) return { name, kind: "number", get: this.program(shader[1].toUpperCase(), shader[2]?.toLowerCase()) };
    const owner = name.split(".")[0].toLowerCase();
    if (Object.hasOwn(this.owners, owner) && name.includes(".")) return this.described(name, owner, name.slice(owner.length + 1));
    return this.isProperty(name) ? this.property(name) : this.register(name);
  }

  property(name) {
    const found = this.properties[name.toLowerCase()];
    if (!found) throw new FilterError(`there is no property ${name}${nearest(name, Object.keys(this.properties))}`);
    if (found.path === null) throw new FilterError(`the page does not have ${name}: cffpy draws --where has it`);
    const { kind, many, words } = found;
    const texts = kind === "bool" ? [["true", 1], ["false", 0]] : words.map((one) => [one, one]);
    return { name, kind, isMany: many, words: texts.length ? new Map(texts) : null, get: this.reader(found), show: kind === "bool" ? shownBy(null) : String };
  }

  // Reads the values of a property: of the columns of draws, or of the pass of a row.
  reader({ kind, hexadecimal, path }) {
    const { draws } = this;
    const [owner, ...steps] = path.split(".");
    const isNumber = hexadecimal || kind !== "text";
    const typed = (value) => (value === null ? null : hexadecimal ? Number(value) : isNumber ? value : String(value));
    if (owner === "pass") return (row) => valuesAt(draws.pass(row), steps).map(typed);
    let length = steps.length;
    const column = () => steps.slice(0, length).join(".").replace("[]", "");
    while (length > 1 && !Object.hasOwn(draws.columns, column())) length--;
    const name = column();
    const rest = steps.slice(length);
    if (steps[length - 1].endsWith("[]")) rest.unshift("[]");
    return (row) => valuesAt(draws.fact(row, name), rest).map(typed);
  }

  register(name) {
    const found = this.fields(name);
    const [first, field] = found[0];
    const type = this.typeOf(first, field);
    const words = wordsOf(type);
    const isMany = name.includes("[*]");
    const get = (row) => {
      const values = found.map(([column, one]) => this.value(column, one, row));
      return isMany ? values.filter((one, index) => one !== null || this.isWritten(found[index][0], row)) : values;
    };
    return { name, kind: type?.kind === "bool" ? "bool" : "number", isMany, words, get, show: shownBy(type, words) };
  }

  typeOf(column, field) {
    const number = field === null ? column.type : column.fields[field][3];
    return number < 0 ? null : this.registers.types[number];
  }

  isWritten(column, row) {
    return this.registers.at(column, row) !== null;
  }

  // A fact of bindings, or a field of descriptors: of what these are compared as, the page knows the
  // values that occur.
  described(name, kind, field) {
    const get = this.descriptors(kind, field);
    const fact = this.fact(field);
    if (fact && fact.kind !== "text") {
      const flags = fact.kind === "bool" ? new Map([["true", 1], ["false", 0]]) : null;
      return { name, kind: fact.kind, isMany: true, words: flags, get };
    }
    const occurring = this.occurring(kind, field);
    const texts = occurring.filter((one) => typeof one === "string");
    const isText = texts.length > 0;
    const words = isText ? new Map(texts.map((one) => [one, one])) : occurring.some((one) => typeof one === "boolean") ? new Map([["true", 1], ["false", 0]]) : null;
    return { name, kind: isText ? "text" : "number", isMany: true, words, get };
  }

  occurring(owner, field) {
    const { places, values } = this.bindings;
    const { kind } = this.owners[owner];
    const read = this.bindingReader(field);
    const chosen = places.filter((one) => one.kind === kind);
    const found = chosen.flatMap((place) => place.value.filter((one) => one >= 0).flatMap((one) => read(place, values[one])));
    return [...new Set(found)].filter((one) => one !== null && one !== undefined);
  }

  fact(name) {
    return Object.hasOwn(this.bindingFacts, name.toLowerCase()) && name === name.toLowerCase() ? this.bindingFacts[name] : null;
  }

  // The values of a fact, or of a field, of a place and of what is bound there.
  bindingReader(name) {
    const fact = this.fact(name);
    if (!fact) return fieldReader(name.toUpperCase());
    return (place, bound) => {
      const found = (Object.hasOwn(place, name) ? place : bound)[name] ?? null;
      if (fact.many) return found ?? [];
      return [fact.hexadecimal && found !== null ? Number(found) : found];
    };
  }

  // The address of a stage's program, or a number of it.
  program(stage, name) {
    if (!this.stages.includes(stage)) throw new FilterError(`there is no stage ${stage}${nearest(stage, this.stages)}`);
    const read = name ? this.statistic(name) : (address) => Number(address);
    return (row) => {
      const found = this.draws.programs(row).find(([one]) => one === stage);
      return [found ? read(found[1], found[2]) : null];
    };
  }

  statistic(name) {
    if (!this.shaders) throw new FilterError("the shaders are not in the page");
    const known = Object.keys(this.numbers);
    if (!known.includes(name)) throw new FilterError(`shaders have no number ${name}${nearest(name, known)}`);
    return (_address, shader) => (shader < 0 ? null : this.shaders[shader][name]);
  }

  // A field of each descriptor of a kind, or where it is bound: of those that a draw uses, or of
  // all that it has bound (bound_texture).
  descriptors(owner, name, isWanted = () => true) {
    const { kind, used: onlyUsed } = this.owners[owner];
    if (!this.bindings) throw new FilterError("what draws have bound is not in the page");
    const { places, values } = this.bindings;
    const chosen = places.filter((one) => one.kind === kind);
    const read = this.bindingReader(name);
    const isField = !this.fact(name);
    const has = (index) => values[index]?.fields?.some(([one]) => one.toUpperCase() === name.toUpperCase());
    if (isField && !chosen.some((one) => one.value.some(has))) throw new FilterError(`no ${kind} of this capture has a field ${name}`);
    return (row) =>
      chosen.flatMap((place) => {
        const change = changeAt(place, row);
        const value = change < 0 ? -1 : place.value[change];
        if (value < 0 || (onlyUsed && !values[value].used) || !isWanted(values[value])) return [];
        return read(place, values[value]);
      });
  }

  value(column, field, row) {
    const now = this.registers.at(column, row);
    if (now === null || now.value < 0) return null;
    return typedValue(this.registers.digits(column, now.value), this.typeOf(column, field));
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
        return index < 0 ? [] : [[column, index]];
      });
    };
    const dot = wanted.lastIndexOf(".");
    let found = pick(wanted, null);
    if (!found.length && dot > 0) found = pick(wanted.slice(0, dot), wanted.slice(dot + 1));
    if (!found.length) throw new FilterError(this.missing(name, dot > 0 ? pick(wanted.slice(0, dot), null) : []));
    return found;
  }

  // Why a name is not known. columns: the registers of which its end may be a field.
  missing(name, columns) {
    if (columns.length) {
      const known = columns[0][0].fields.map(([one]) => one);
      const dot = name.lastIndexOf(".");
      return `${name.slice(0, dot)} has no field ${name.slice(dot + 1)}${nearest(name.slice(dot + 1), known)}`;
    }
    return `no packet of this capture writes ${name}${nearest(plainName(name), [...this.registers.byName.keys()])}`;
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
    return [found ? valueOf(found[3]) : null];
  };
}
