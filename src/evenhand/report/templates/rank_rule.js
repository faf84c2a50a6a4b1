// The rule in the browser: scores under any weights. No page in here.
//
// A rule is what rank_model.py cut: components (m x n numbers), gates, and a tree of arithmetic around the one live
// node, which is the weighted aggregate. A missing value is NaN, as in Python.

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

const NEARLY_GEOMETRIC = 0.01; // as in Python

// A view is {weights, aggregator, exponent, gates}; a gate is "on", "off" or "weighed" (off while its column weighs 0).
// prepared() does once per aggregator what every draw of weights needs; scores() then writes into one buffer.

function prepared(rule, view) {
  const work = { rule, view, out: new Float64Array(rule.n), columns: rule.components, scale: 1 };
  if (view.aggregator === "power") {
    work.scale = largest(rule.components) || 1;
    work.columns = rule.components.map((column) => column.map(transform(view.exponent, work.scale)));
  }
  work.hasGap = rule.components.some((column) => column.some(Number.isNaN));
  // Unless it is left out, a missing component leaves its row without a score, whatever the weight.
  work.lacks = Uint8Array.from({ length: rule.n }, (_, i) => !rule.renormalise && rule.components.some((column) => Number.isNaN(column[i])));
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
  const { rule, out, columns } = work, p = work.view.exponent;
  if (p !== 0 && Math.abs(p) < NEARLY_GEOMETRIC) return nearGeometric(work, weights);
  out.fill(0);
  for (let j = 0; j < rule.m; j++) {
    const w = weights[j], column = columns[j];
    if (w === 0) continue;
    if (rule.renormalise && work.hasGap) { for (let i = 0; i < rule.n; i++) if (column[i] === column[i]) out[i] += w * column[i]; }
    else for (let i = 0; i < rule.n; i++) out[i] += w * column[i];
  }
  if (rule.renormalise && work.hasGap) overPresent(work, weights);
  inverse(work);
  return atTheEdge(work, weights);
}

// Near exponent 0, (mean of x^p)^(1/p) would cost as many digits as 1/p has: g (mean of (x / g)^p)^(1/p), with the
// geometric mean g, by expm1 and log1p.
function nearGeometric(work, weights) {
  const { rule, out } = work, p = work.view.exponent;
  const counts = (j, i) => weights[j] !== 0 && !Number.isNaN(rule.components[j][i]);
  const meanOver = (i, of) => {
    let sum = 0, total = 0;
    for (let j = 0; j < rule.m; j++) if (counts(j, i)) { sum += weights[j] * of(rule.components[j][i]); total += weights[j]; }
    return sum / total;
  };
  for (let i = 0; i < rule.n; i++) {
    const middle = meanOver(i, (value) => (value === 0 ? 0 : Math.log(value)));
    const moved = meanOver(i, (value) => (value === 0 ? -1 : Math.expm1(p * (Math.log(value) - middle))));
    out[i] = Math.exp(middle + Math.log1p(moved) / p);
  }
  return atTheEdge(work, weights);
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
  if (work.hasGap && !rule.renormalise) for (let i = 0; i < rule.n; i++) if (work.lacks[i]) out[i] = NaN;
  if (work.negative || work.zero) for (let i = 0; i < rule.n; i++) {
    let zero = false, undefinedMean = work.lacks[i] === 1;
    for (let j = 0; j < rule.m; j++) {
      const value = rule.components[j][i];
      if (weights[j] === 0 || Number.isNaN(value)) continue;
      zero ||= value === 0;
      undefinedMean ||= value < 0;
    }
    if (undefinedMean) out[i] = NaN;
    else if (zero && work.view.exponent <= 0) out[i] = 0;
  }
  return out;
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
    out[i] = own.length && !work.lacks[i] ? picked(work.view.aggregator, own) : NaN;
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
  const scale = Math.pow(10, places), near = Math.abs(value) * scale;
  if (near >= 2 ** 52) return value; // a float that large has no digits below those that are kept
  return Math.sign(value) * Math.floor(near + Math.min(1e-14 * near, 0.01) + (floor ? 0 : 0.5)) / scale;
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
