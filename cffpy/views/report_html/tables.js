// SPDX-License-Identifier: MIT
// Captured bytes as tables: dwords and floats, indices, vertices by the formats of their attributes.
"use strict";

function bytesOf(hex) {
  const bytes = new Uint8Array(hex.length >> 1);
  for (let index = 0; index < bytes.length; index++) bytes[index] = parseInt(hex.substr(2 * index, 2), 16);
  return new DataView(bytes.buffer);
}

function floatText(number) {
  if (Number.isInteger(number) && Math.abs(number) < 1e7) return String(number);
  return String(Number(number.toPrecision(6)));
}

const hex32 = (number) => number.toString(16).padStart(8, "0");

// Rows of four dwords, as floats with the hex digits beside them.
function dataTable(data, most = 256) {
  const rows = [];
  for (let at = 0; at + 4 <= data.byteLength && rows.length < most; at += 16) {
    const words = [];
    for (let word = at; word < at + 16 && word + 4 <= data.byteLength; word += 4) words.push(word);
    const floats = words.map((word) => floatText(data.getFloat32(word, true)));
    const digits = words.map((word) => hex32(data.getUint32(word, true)));
    rows.push([`+${at.toString(16)}`, ...floats, ...Array(4 - floats.length).fill(""), digits.join(" ")]);
  }
  return table(["offset", "x", "y", "z", "w", "dwords"], rows, { class: "data" });
}

// Indices in rows of as many as a primitive has, so that a row of a list is a primitive.
function indexTable(data, size, across, most = 1024) {
  const read = size === 1 ? "getUint8" : size === 2 ? "getUint16" : "getUint32";
  const restart = 2 ** (8 * size) - 1;
  const rows = [];
  const count = Math.min(most, Math.floor(data.byteLength / size));
  for (let first = 0; first < count; first += across) {
    const cells = [];
    for (let index = first; index < Math.min(count, first + across); index++) {
      const value = data[read](index * size, true);
      cells.push(h("span", { class: value === restart ? "restart" : "" }, String(value)));
    }
    rows.push([String(first), ...cells, ...Array(across - cells.length).fill("")]);
  }
  return table(["index", ...Array.from({ length: across }, (_one, place) => `+${place}`)], rows, { class: "data" });
}

// Vertices of one primitive of a list; 8 a row for all others.
function acrossOf(primitive) {
  return { POINTLIST: 1, LINELIST: 2, TRILIST: 3, QUADLIST: 4, RECTLIST: 3 }[(primitive ?? "").replace("DI_PT_", "")] ?? 8;
}

// A format such as FMT6_16_16_16_16_SNORM or VFMT4_32_32_FLOAT: bits of each component, their type.
function parseFormat(name) {
  const parts = name.split("_").slice(1);
  const bits = parts.filter((one) => /^\d+$/.test(one)).map(Number);
  const type = parts.find((one) => /^[A-Z]+$/.test(one)) ?? "UINT";
  const total = bits.reduce((sum, one) => sum + one, 0);
  const isKnown = bits.length && total % 8 === 0 && bits.every((one) => one <= 32);
  return isKnown ? { bits, type, bytes: total / 8 } : null;
}

function component(raw, bits, type) {
  const sign = 2 ** (bits - 1);
  const signed = raw >= sign ? raw - 2 ** bits : raw;
  switch (type) {
    case "FLOAT":
      return bits === 32 ? floatOf(raw) : bits === 16 ? halfOf(raw) : raw;
    case "UNORM":
      return raw / (2 ** bits - 1);
    case "SNORM":
      return Math.max(-1, signed / (sign - 1));
    case "FIXED":
      return signed / 65536;
    case "SINT":
    case "SSCALED":
      return signed;
    default:
      return raw;
  }
}

const scratch = new DataView(new ArrayBuffer(4));

function floatOf(bits) {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}

function halfOf(bits) {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

// The components of an attribute at a place in the data; null where the data ends before.
function attributeAt(data, at, format) {
  if (at < 0 || at + format.bytes > data.byteLength) return null;
  let bit = 0;
  return format.bits.map((bits) => {
    let raw = 0n;
    for (let byte = bit >> 3; byte <= (bit + bits - 1) >> 3; byte++) {
      raw |= BigInt(data.getUint8(at + byte)) << BigInt(8 * (byte - (bit >> 3)));
    }
    const value = Number((raw >> BigInt(bit & 7)) & ((1n << BigInt(bits)) - 1n));
    bit += bits;
    return component(value, bits, format.type);
  });
}

// The first vertices of a draw. attributes: as in the data. buffers: slot -> DataView.
function vertexTable(attributes, buffers, most = 128) {
  const known = attributes
    .map((one) => ({ ...one, parsed: parseFormat(one.format), data: buffers.get(one.buffer) }))
    .filter((one) => one.parsed && one.data && one.stride);
  const rows = [];
  for (let vertex = 0; vertex < most && known.length; vertex++) {
    const cells = known.map((one) => attributeAt(one.data, vertex * one.stride + one.offset, one.parsed));
    if (cells.every((cell) => cell === null)) break;
    rows.push([String(vertex), ...cells.map((cell) => (cell === null ? "" : cell.map(floatText).join(", ")))]);
  }
  const headings = known.map((one) => `${one.number}: ${one.format.replace(/^[A-Z]*FMT\d?_/, "")}${one.instanced ? ", per instance" : ""}`);
  return rows.length ? table(["vertex", ...headings], rows, { class: "data" }) : null;
}
