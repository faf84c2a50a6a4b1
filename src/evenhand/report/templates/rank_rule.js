// The rule in the browser: scores, ranks, leader shares and the nearest change of leader. No page in here.
//
// A rule is what rank_model.py cut: components (m x n numbers), gates, and a tree of arithmetic around the one live
// node, which is the weighted aggregate. A missing value is NaN, as in Python.

"use strict";

const TIE = 1e-12; // scores closer than this, relative to their size, are equal: they come from the same numbers

function ruleOf(data) {
  const floats = (list) => Float64Array.from(list, (value) => (value === null ? NaN : value));
  return {
    n: data.n, m: data.components.length, weights: data.weights, components: data.components.map(floats),
    renormalise: data.renormalise, sign: data.lower ? -1 : 1, isLinear: data.isLinear,
    gates: data.gates.map((gate) => ({ of: gate.of, values: floats(gate.values) })),
    tree: treeOf(data.tree, data.n, floats),
  };
}

function treeOf(node, n, floats) {
  if (node.kind === "rows") return { kind: "rows", rows: floats(node.rows) };
  if (node.kind === "number") return { kind: "rows", rows: new Float64Array(n).fill(node.number) };
  if (node.kind !== "op") return node;
  const args = node.args.map((arg) => treeOf(arg, n, floats));
  return { kind: "op", op: node.op, options: node.options || {}, args, out: new Float64Array(n) };
}

// A view is {weights, aggregator, exponent, gates}; a gate is "on", "off" or "weighed" (off while its column weighs 0).
// prepared() does once per aggregator what every draw of weights needs; scores() then writes into one buffer.

function prepared(rule, view) {
  const work = { rule, view, out: new Float64Array(rule.n), columns: rule.components, scale: 1 };
  if (view.aggregator === "power") {
    work.scale = largest(rule.components) || 1;
    work.columns = rule.components.map((column) => column.map(transform(view.exponent, work.scale)));
  }
  work.hasGap = rule.components.some((column) => column.some(Number.isNaN));
  work.negative = view.exponent !== 1 && view.aggregator === "power" &&
    rule.components.some((column) => column.some((value) => value < 0));
  work.zero = view.exponent <= 0 && view.aggregator === "power" &&
    rule.components.some((column) => column.some((value) => value === 0));
  return work;
}

function largest(columns) {
  let found = 0;
  for (const column of columns) for (const value of column) if (Math.abs(value) > found) found = Math.abs(value);
  return found;
}

function transform(exponent, scale) {
  if (exponent === 1) return (value) => value;
  if (exponent === 0) return (value) => Math.log(value);
  return (value) => Math.pow(value / scale, exponent);
}

function scores(work, weights) {
  const live = work.view.aggregator === "power" ? powerMean(work, weights) : extreme(work, weights);
  return evaluated(work.rule.tree, live, work, weights);
}

function powerMean(work, weights) {
  const { rule, out, columns } = work;
  out.fill(0);
  for (let j = 0; j < rule.m; j++) {
    const w = weights[j], column = columns[j];
    if (w === 0) continue;
    if (rule.renormalise && work.hasGap) { for (let i = 0; i < rule.n; i++) if (column[i] === column[i]) out[i] += w * column[i]; }
    else for (let i = 0; i < rule.n; i++) out[i] += w * column[i];
  }
  if (rule.renormalise && work.hasGap) overPresent(work, weights);
  inverse(work);
  if (work.negative || work.zero) atTheEdge(work, weights);
  return out;
}

function overPresent(work, weights) {
  const { rule, out } = work;
  for (let i = 0; i < rule.n; i++) {
    let total = 0;
    for (let j = 0; j < rule.m; j++) if (!Number.isNaN(rule.components[j][i])) total += weights[j];
    out[i] = total > 0 ? out[i] / total : NaN;
  }
}

function inverse(work) {
  const { out, scale } = work, p = work.view.exponent;
  if (p === 1) return;
  if (p === 0) for (let i = 0; i < out.length; i++) out[i] = Math.exp(out[i]);
  else for (let i = 0; i < out.length; i++) out[i] = scale * Math.pow(out[i], 1 / p);
}

// A mean with an exponent of 0 or less is 0 where a component is; a negative one leaves every mean but the first undefined.
function atTheEdge(work, weights) {
  const { rule, out } = work;
  for (let i = 0; i < rule.n; i++) {
    let zero = false, undefinedMean = false;
    for (let j = 0; j < rule.m; j++) {
      const value = rule.components[j][i];
      if (weights[j] === 0 || Number.isNaN(value)) { undefinedMean ||= weights[j] !== 0 && !rule.renormalise; continue; }
      zero ||= value === 0;
      undefinedMean ||= value < 0;
    }
    if (undefinedMean) out[i] = NaN;
    else if (zero && work.view.exponent <= 0) out[i] = 0;
  }
}

function extreme(work, weights) {
  const { rule, out } = work;
  const own = [];
  for (let i = 0; i < rule.n; i++) {
    own.length = 0;
    for (let j = 0; j < rule.m; j++) {
      const value = rule.components[j][i];
      if (weights[j] > 0 && !(rule.renormalise && Number.isNaN(value))) own.push(value);
    }
    out[i] = own.length && !own.some(Number.isNaN) ? picked(work.view.aggregator, own) : NaN;
  }
  return out;
}

function picked(aggregator, values) {
  if (aggregator === "min") return Math.min(...values);
  if (aggregator === "max") return Math.max(...values);
  const ordered = values.slice().sort((a, b) => a - b), half = ordered.length >> 1;
  return ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
}

// --- the tree around the live node ---------------------------------------------------------------------------------

function evaluated(node, live, work, weights) {
  if (node.kind === "live") return live;
  if (node.kind === "rows") return node.rows;
  if (node.kind === "gate") return gateRows(work, node.gate, weights);
  const args = node.args.map((arg) => evaluated(arg, live, work, weights));
  const each = ROW_WISE[node.op];
  if (!each) return TABLE_WISE[node.op](args[0], node.options, node.out);
  const [a, b, c] = args, out = node.out;
  for (let i = 0; i < out.length; i++) {
    const value = each(a[i], b && b[i], c && c[i]);
    out[i] = Number.isFinite(value) ? value : NaN;
  }
  return out;
}

function gateRows(work, at, weights) {
  const gate = work.rule.gates[at], how = work.view.gates[at];
  const isOff = how === "off" || (how === "weighed" && gate.of.every((j) => weights[j] === 0));
  if (!isOff) return gate.values;
  work.ones ||= new Float64Array(work.rule.n).fill(1);
  return work.ones;
}

const rounder = (floor) => (value, places = 0) => {
  const scale = Math.pow(10, places), near = Math.abs(value) * scale * (1 + 1e-14);
  return Math.sign(value) * Math.floor(near + (floor ? 0 : 0.5)) / scale;
};

const ROW_WISE = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b, "^": (a, b) => Math.pow(a, b),
  negate: (a) => -a, if: (a, b, c) => (a ? b : c), default: (a, b) => (Number.isNaN(a) ? b : a),
  min: (a, b = a, c = a) => Math.min(a, b, c), max: (a, b = a, c = a) => Math.max(a, b, c), prod: (a, b = 1, c = 1) => a * b * c,
  clamp: (a, low, high) => Math.min(Math.max(a, low), high),
  abs: Math.abs, exp: Math.exp, log: Math.log, log2: Math.log2, log10: Math.log10, sqrt: Math.sqrt,
  floor: Math.floor, ceil: Math.ceil, round: rounder(false), trunc: rounder(true),
};

const TABLE_WISE = {
  colmin: (values, _, out) => out.fill(known(values).reduce((a, b) => Math.min(a, b), Infinity)),
  colmax: (values, _, out) => out.fill(known(values).reduce((a, b) => Math.max(a, b), -Infinity)),
  colmean: (values, _, out) => out.fill(meanOf(known(values))),
  colsd: (values, _, out) => out.fill(spreadOf(known(values))),
  zscore: (values, options, out) => {
    const own = known(values), centre = meanOf(own), spread = spreadOf(own), sign = options.direction === "lower" ? -1 : 1;
    return mapped(values, out, (value) => (spread > 0 ? (sign * (value - centre)) / spread : NaN));
  },
  minmax: (values, options, out) => {
    const own = known(values), low = own.reduce((a, b) => Math.min(a, b)), span = own.reduce((a, b) => Math.max(a, b)) - low;
    return mapped(values, out, (value) => {
      const share = span > 0 ? (value - low) / span : NaN;
      return options.direction === "lower" ? 1 - share : share;
    });
  },
  rank: (values, options, out) => {
    const sign = options.direction === "lower" ? -1 : 1, beaten = ahead(values, sign), tie = { max: 1, mean: 0.5 }[options.ties] || 0;
    return mapped(values, out, (_, i) => 1 + beaten[i][0] + tie * beaten[i][1]);
  },
  percentile: (values, options, out) => {
    const sign = options.direction === "lower" ? 1 : -1, below = ahead(values, sign), others = known(values).length - 1;
    return mapped(values, out, (_, i) => (others > 0 ? (100 * (below[i][0] + 0.5 * below[i][1])) / others : NaN));
  },
};

const known = (values) => values.filter((value) => !Number.isNaN(value));
const meanOf = (values) => values.reduce((a, b) => a + b, 0) / values.length;

function spreadOf(values) {
  const centre = meanOf(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / values.length);
}

function mapped(values, out, of) {
  for (let i = 0; i < out.length; i++) out[i] = Number.isNaN(values[i]) ? NaN : of(values[i], i);
  return out;
}

// --- order ---------------------------------------------------------------------------------------------------------

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

// --- the nearest change of leader ----------------------------------------------------------------------------------

// The smallest shift of weight after which another row leads: {to, weights, l1}; null where none does. Exact where the
// rule is linear in the weights after a map that keeps the order (one linear condition per rival: what gains most takes
// from what gains least); where it is not, the smallest shift from one column to one other.
function nearestFlip(work, weights, locks) {
  if (work.view.aggregator !== "power") return null;
  const sign = work.rule.sign, now = leaders(scores(work, weights), sign);
  if (!now.length) return null;
  const free = weights.map((_, j) => j).filter((j) => !locks[j]);
  if (free.length < 2) return null;
  const isLinear = work.rule.isLinear && !(work.rule.renormalise && work.hasGap) && !work.negative &&
    !work.view.gates.includes("weighed");
  return isLinear ? linearFlip(work, weights, free, now) : pairFlip(work, weights, free, now);
}

function linearFlip(work, weights, free, now) {
  const rule = work.rule, leader = now[0], factor = factors(work, weights), candidates = [];
  for (let rival = 0; rival < rule.n; rival++) {
    if (now.includes(rival)) continue;
    const gains = gainsOf(work, factor, leader, rival);
    const found = gains && transfer(weights, free, gains);
    if (found) candidates.push({ to: rival, weights: found.weights, l1: found.l1 });
  }
  candidates.sort((a, b) => a.l1 - b.l1);
  return candidates.find((one) => leads(work, one, sharesAfter(weights, one.weights))) || null;
}

// What a step past the edge gives; on it the two are equal.
function sharesAfter(from, to) {
  return normalised(from.map((w, j) => Math.max(0, w + (to[j] - w) * (1 + 1e-6))));
}

function leads(work, one, weights) {
  const values = scores(work, weights), best = leaders(values, work.rule.sign)[0];
  return Math.abs(values[one.to] - values[best]) <= 1e-5 * Math.abs(values[best]);
}

// (n) product of everything that multiplies the live aggregate, told by scoring with the live node at 1.
function factors(work, weights) {
  const ones = new Float64Array(work.rule.n).fill(1);
  const node = innermost(work.rule.tree);
  return Float64Array.from(node ? evaluated(node, ones, work, weights) : ones);
}

// Of a linear tree: the product around the live node, below what rises alike on all rows.
function innermost(node) {
  if (node.kind !== "op") return null;
  if (node.op === "*" || node.op === "/") {
    const around = node.args.filter((arg) => !holdsLive(arg));
    if (around.length) {
      const inner = node.args.find(holdsLive);
      return isProduct(inner) ? node : innermost(inner);
    }
  }
  return innermost(node.args.find(holdsLive));
}

const holdsLive = (node) => node.kind === "live" || (node.kind === "op" && node.args.some(holdsLive));

function isProduct(node) {
  if (node.kind === "live") return true;
  return node.kind === "op" && "*/".includes(node.op) && !node.args.every(holdsLive) && isProduct(node.args.find(holdsLive));
}

// gains[j]: how much a unit of weight on column j speaks for the rival; the rival leads where their weighted sum is 0 or more.
function gainsOf(work, factor, leader, rival) {
  const p = work.view.exponent, sign = work.rule.sign, found = [];
  for (const column of work.columns) {
    let gain;
    if (p === 0) gain = column[rival] - column[leader] + Math.log(factor[rival]) - Math.log(factor[leader]);
    else gain = (p > 0 ? 1 : -1) * (factor[rival] ** p * column[rival] - factor[leader] ** p * column[leader]);
    if (Number.isNaN(gain) || gain === Infinity) return null;
    found.push(sign * Math.max(gain, -1e9));
  }
  return found;
}

// The least weight to move so that sum(w * gains) reaches 0: into the best column, out of the worst ones first.
function transfer(weights, free, gains) {
  const into = free.reduce((best, j) => (gains[j] > gains[best] ? j : best), free[0]);
  const from = free.filter((j) => j !== into && gains[j] < gains[into]).sort((a, b) => gains[a] - gains[b]);
  let lacking = -weights.reduce((sum, w, j) => sum + w * gains[j], 0), shifted = 0;
  if (lacking <= 0) return null;
  const found = weights.slice();
  for (const j of from) {
    const each = gains[into] - gains[j], step = Math.min(found[j], lacking / each);
    found[j] -= step;
    found[into] += step;
    shifted += step;
    lacking -= step * each;
    if (lacking <= 1e-12 * each) return { weights: found, l1: 2 * shifted };
  }
  return null;
}

function pairFlip(work, weights, free, now) {
  let best = null;
  const steps = work.rule.n * free.length > 2000 ? 8 : 40;
  for (const from of free) for (const into of free) {
    if (from === into || weights[from] === 0) continue;
    const most = Math.min(weights[from], best ? best.l1 / 2 : 1);
    const found = firstChange(work, weights, from, into, most, steps, now);
    if (found && (!best || found.l1 < best.l1)) best = found;
  }
  return best && { ...best, isPair: true };
}

function firstChange(work, weights, from, into, most, steps, now) {
  const at = (step) => weights.map((w, j) => (j === from ? w - step : j === into ? w + step : w));
  const leader = (step) => leaders(scores(work, at(step)), work.rule.sign)[0];
  let low = 0;
  for (let k = 1; k <= steps; k++) {
    const high = (most * k) / steps;
    if (now.includes(leader(high))) { low = high; continue; }
    let [a, b] = [low, high];
    for (let turn = 0; turn < 30; turn++) { const middle = (a + b) / 2; if (now.includes(leader(middle))) a = middle; else b = middle; }
    return { to: leader(b), weights: at(b), l1: 2 * b };
  }
  return null;
}
