// Order and weights: who lies before whom, what the others get when one weight moves, and draws of weights.

"use strict";

const TIE = 1e-12; // scores closer than this, relative to their size, are equal: they come from the same numbers
const same = (a, b) => Math.abs(a - b) <= TIE * Math.max(Math.abs(a), Math.abs(b));

// Per row: how many others lie strictly ahead, and how many are equal. sign 1: larger is ahead.
function ahead(values, sign) {
  const order = ordered(values, sign), found = Array.from(values, () => [NaN, NaN]);
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && same(values[order[end]], values[order[end - 1]])) end++;
    for (let k = start; k < end; k++) found[order[k]] = [start, end - start - 1];
    start = end;
  }
  return found;
}

// Rows with a value, best first; equal ones in the order of the table.
function ordered(values, sign) {
  const order = [];
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i])) order.push(i);
  return order.sort((a, b) => (same(values[a], values[b]) ? a - b : sign * (values[b] - values[a])));
}

// Ranks from 1, ties sharing the best place; NaN without a score.
function ranked(values, sign) {
  return ahead(values, sign).map(([before]) => before + 1);
}

// The first row, and all rows that tie with it.
function leaders(values, sign) {
  let best = NaN;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === value && !(sign * value <= sign * best)) best = value;
  }
  const found = [];
  for (let i = 0; i < values.length; i++) if (same(values[i], best)) found.push(i);
  return found;
}

// --- weights -------------------------------------------------------------------------------------------------------

// One weight takes a value; the others that are free share what is left, in the proportions they have.
function moved(weights, at, value, locks) {
  const free = weights.map((_, j) => j !== at && !locks[j]);
  const locked = sumWhere(weights, (j) => j !== at && locks[j]);
  const count = free.filter(Boolean).length;
  if (locks[at] || !count) return weights.slice();
  const own = Math.min(Math.max(value, 0), Math.max(0, 1 - locked));
  const rest = Math.max(0, 1 - locked - own), before = sumWhere(weights, (j) => free[j]);
  return weights.map((w, j) => {
    if (j === at) return own;
    if (!free[j]) return w;
    return before > 0 ? (w / before) * rest : rest / count;
  });
}

function sumWhere(weights, keeps) {
  return weights.reduce((sum, w, j) => (keeps(j) ? sum + w : sum), 0);
}

function normalised(weights) {
  const total = weights.reduce((a, b) => a + b, 0);
  return total > 0 ? weights.map((w) => w / total) : weights.map(() => 1 / weights.length);
}

function randomOf(seed) {
  let state = seed >>> 0; // mulberry32
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// Uniform on the simplex of the free weights; locked ones stay.
function drawn(weights, locks, random, out) {
  const mass = 1 - sumWhere(weights, (j) => locks[j]);
  let total = 0;
  for (let j = 0; j < weights.length; j++) {
    out[j] = locks[j] ? weights[j] : -Math.log(1 - random());
    if (!locks[j]) total += out[j];
  }
  for (let j = 0; j < weights.length; j++) if (!locks[j]) out[j] = (out[j] / total) * mass;
  return out;
}
