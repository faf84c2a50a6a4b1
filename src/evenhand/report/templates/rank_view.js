// The page around the rule: state, controls, table, shares, map. All text goes in as textContent; nothing as markup.

const data = JSON.parse(byId("data").textContent);
const rule = ruleOf(data);
const COLOURS = 10; // classes c0 to c9; everybody else is cx
const DRAWS = 20000;
const SEED = 20261129;
const SHOWN = 300; // rows at once; a button shows the others
const MEANS = [
  ["arithmetic", "Arithmetic", "power", 1], ["geometric", "Geometric", "power", 0], ["harmonic", "Harmonic", "power", -1],
  ["power", "Power mean", "power", null], ["min", "Minimum", "min", 1], ["median", "Median", "median", 1], ["max", "Maximum", "max", 1],
];
const published = {
  weights: data.weights, locks: data.weights.map(() => false), aggregator: data.aggregator, exponent: data.exponent,
  mean: meanName(data.aggregator, data.exponent), gates: data.gates.map(() => "on"), sort: "rank", up: true, pins: [], search: "",
};
const state = { ...copied(published), limit: SHOWN };
const now = { work: null, values: null, ranks: null, flip: null, shares: null, colours: new Map(), leader: -1 };
const before = ranked(rule.n ? Float64Array.from(data.published, (v) => (v === null ? NaN : v)) : [], rule.sign);
const broken = new Set(data.broken);
const ties = ahead(Float64Array.from(data.published, (v) => (v === null ? NaN : v)), rule.sign).map(([, equal]) => equal);

function byId(id) { return document.getElementById(id); }

function made(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children); // strings become text
  return element;
}

// Text costs layout even where it is the same.
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function copied(view) {
  return { ...view, weights: view.weights.slice(), locks: view.locks.slice(), gates: view.gates.slice(), pins: view.pins.slice() };
}

function meanName(aggregator, exponent) {
  if (aggregator !== "power") return aggregator;
  return { 1: "arithmetic", 0: "geometric", "-1": "harmonic" }[exponent] || "power";
}

// Half up, from the shortest decimal form, as numbers.py rounds; toFixed alone would round what 65.05 is in binary.
function rounded(value, decimals) {
  const size = Math.abs(value);
  if (!(size >= 1e-6 && size < 1e15)) return value.toFixed(decimals);
  return `${value < 0 ? "-" : ""}${Number(`${Math.round(`${size}e${decimals}`)}e-${decimals}`).toFixed(decimals)}`;
}

const number = (value, decimals = data.decimals) => (Number.isNaN(value) ? "–" : rounded(value, decimals));
const weightText = (w) => String(Math.round(w * 1e4) / 1e4);
const vectorText = (weights) => weights.map((w, j) => `${data.labels[j]} ${weightText(w)}`).join(" · ");

// The same, shorter where all weights but at most one are equal.
function shortVector(weights) {
  const counts = new Map();
  for (const w of weights) counts.set(weightText(w), (counts.get(weightText(w)) || 0) + 1);
  const [common, n] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
  if (n === weights.length) return `${common} each`;
  const odd = weights.findIndex((w) => weightText(w) !== common);
  return n === weights.length - 1 && n > 1 ? `${data.labels[odd]} ${weightText(weights[odd])}, the others ${common} each` : vectorText(weights);
}
// A share and its standard error, with as many decimals as the error's first digit needs.
const shareDecimals = (se) => Math.min(4, Math.max(1, Math.ceil(-Math.log10(100 * se || 1))));
const percent = (share, se = 0) => `${rounded(100 * share, shareDecimals(se))} %`;
const errorText = (se) => ` ± ${(100 * se).toFixed(shareDecimals(se))}`;
const points = (weight) => `${rounded(100 * weight, weight < 0.001 ? 2 : 1)} points`;

const orNaN = (value) => (value === null ? NaN : value);
function byRank(a, b) { return (now.ranks[a] || Infinity) - (now.ranks[b] || Infinity) || a - b; }

// --- the loop: a change is drawn in the next frame, what is slow comes after -------------------------------------------

let frame = 0, idle = 0;

function changed({ rule: isRule = false, draws = isRule } = {}) {
  if (isRule) now.work = prepared(rule, state);
  if (draws) drawing.start();
  if (byId("table").getAttribute("aria-busy") !== "true") byId("table").setAttribute("aria-busy", "true");
  if (!frame) frame = requestAnimationFrame(() => { frame = 0; draw(); });
}

function draw() {
  const top = byId("tbody").getBoundingClientRect().top; // before anything is written, so that it costs no layout
  now.values = Float64Array.from(scores(now.work, state.weights));
  now.ranks = ranked(now.values, rule.sign);
  now.leaders = leaders(now.values, rule.sign);
  now.flip = rule.isLinear ? nearestFlip(now.work, state.weights, state.locks) : now.flip;
  table.arrange();
  table.fillSeen(top);
  sliders.show();
  showFirst();
  clearTimeout(idle);
  clearTimeout(table.filling);
  idle = setTimeout(settle, 80);
}

function settle() {
  if (!rule.isLinear) { now.flip = nearestFlip(now.work, state.weights, state.locks); }
  showFlip();
  sliders.say();
  sliders.ghosts();
  table.measure();
  showPresets();
  byId("vector").textContent = vectorText(state.weights);
  byId("shape").textContent = shapeText();
  map.show();
  link.write();
  announce();
  table.fillAll();
}

function announce() {
  const first = now.leaders[0];
  const text = first === undefined ? "No system has a score." : `${data.names[first]} leads with ${number(now.values[first])}; ${changedCount()}.`;
  if (byId("says").textContent !== text) byId("says").textContent = text;
}
