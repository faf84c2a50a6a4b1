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

function copied(view) {
  return { ...view, weights: view.weights.slice(), locks: view.locks.slice(), gates: view.gates.slice(), pins: view.pins.slice() };
}

function meanName(aggregator, exponent) {
  if (aggregator !== "power") return aggregator;
  return { 1: "arithmetic", 0: "geometric", "-1": "harmonic" }[exponent] || "power";
}

const number = (value, decimals = data.decimals) => (Number.isNaN(value) ? "–" : value.toFixed(decimals));
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
const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.01 ? 2 : 1)} %`;
const errorText = (se) => ` ± ${(100 * se).toFixed(se < 0.0005 ? 2 : 1)}`;
const points = (weight) => `${(100 * weight).toFixed(weight < 0.001 ? 2 : 1)} points`;

// --- the loop: a change is drawn in the next frame, what is slow comes after -------------------------------------------

let frame = 0, idle = 0;

function changed({ rule: isRule = false, draws = isRule } = {}) {
  if (isRule) now.work = prepared(rule, state);
  if (draws) drawing.start();
  byId("table").setAttribute("aria-busy", "true");
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
  sliders.ghosts();
  showPresets();
  byId("vector").textContent = vectorText(state.weights);
  byId("shape").textContent = shapeText();
  map.show();
  link.write();
  announce();
  table.fillAll();
}

// --- sliders -----------------------------------------------------------------------------------------------------------

const sliders = {
  rows: [],

  build() {
    data.labels.forEach((label, j) => {
      const range = made("input", { type: "range", min: 0, max: 1, step: 0.005, id: `w${j}`, "data-weight": j, oninput: (e) => this.take(j, e.target.valueAsNumber) });
      const box = made("input", { type: "number", min: 0, max: 1, step: 0.01, inputmode: "decimal", "aria-label": `Weight of ${label}`, onchange: (e) => this.take(j, e.target.valueAsNumber) });
      const lock = made("button", { type: "button", class: "lock", "aria-pressed": "false", "aria-label": `Lock ${label}`, onclick: () => this.lock(j) }, "");
      const ghost = made("span", { class: "ghost", hidden: true });
      const track = made("span", { class: "track" }, range, ghost);
      byId("sliders").append(made("div", { class: "slider" }, made("label", { for: `w${j}` }, made("bdi", {}, label)), box, lock, track));
      this.rows.push({ range, box, lock, ghost, track });
    });
  },

  take(j, value) {
    if (Number.isFinite(value)) state.weights = moved(state.weights, j, value, state.locks);
    changed();
  },

  lock(j) {
    state.locks[j] = !state.locks[j];
    changed({ draws: true });
  },

  show() {
    const free = state.locks.filter((locked) => !locked).length;
    this.rows.forEach(({ range, box, lock, track }, j) => {
      const w = state.weights[j], isFixed = state.locks[j] || free < 2;
      range.value = w;
      range.disabled = isFixed;
      box.disabled = isFixed;
      if (box.value !== w.toFixed(3)) box.value = w.toFixed(3);
      range.setAttribute("aria-valuetext", `${(100 * w).toFixed(1)} percent`);
      lock.setAttribute("aria-pressed", String(state.locks[j]));
      track.style.setProperty("--w", w);
    });
    this.ghosts();
  },

  ghosts() {
    this.rows.forEach(({ ghost }, j) => {
      const to = now.flip ? now.flip.weights[j] : NaN;
      ghost.hidden = !(Math.abs(to - state.weights[j]) > 5e-4);
      if (ghost.hidden) return;
      ghost.style.setProperty("--at", to);
      ghost.title = `At ${weightText(to)}, with the other marks, ${data.names[now.flip.to]} leads`;
    });
  },
};

// The mean and what is done with the factors, for whoever cites or prints the view.
function shapeText() {
  const name = MEANS.find(([own]) => own === state.mean)[1].toLowerCase();
  const mean = state.mean === "power" ? `power mean, exponent ${state.exponent}` : state.aggregator === "power" ? `${name} mean` : name;
  const factors = state.gates.map((how, k) => `${data.gates[k].text} ${how === "weighed" ? "off at weight 0" : how}`);
  return [mean, ...factors].join(" · ");
}

function use(weights) {
  state.weights = normalised(weights);
  state.locks.fill(false);
  changed({ draws: true });
}

function showPresets() {
  const list = byId("presets");
  if (!list.childElementCount) {
    for (const preset of data.presets) {
      const button = made("button", { type: "button", class: "preset", onclick: () => use(preset.weights) },
        made("b", {}, preset.name), made("span", { class: "muted" }, shortVector(preset.weights)));
      list.append(made("li", {}, button));
    }
  }
  data.presets.forEach((preset, k) => {
    const isOn = preset.weights.every((w, j) => Math.abs(w - state.weights[j]) < 5e-5);
    list.children[k].firstChild.setAttribute("aria-pressed", String(isOn));
  });
}

// --- mean and gates ----------------------------------------------------------------------------------------------------

const switches = {
  build() {
    const select = byId("aggregator"), own = published.mean;
    for (const [name, text] of MEANS) select.append(made("option", { value: name }, name === own ? `${text} (published)` : text));
    select.addEventListener("change", () => this.mean(select.value));
    byId("exponent").addEventListener("change", (e) => this.exponent(e.target.valueAsNumber));
    data.gates.forEach((gate, k) => byId("gates").append(this.gate(gate, k)));
  },

  gate(gate, k) {
    const choice = made("select", { id: `gate${k}`, onchange: (e) => { state.gates[k] = e.target.value; changed({ rule: true }); } },
      made("option", { value: "on" }, "on"), made("option", { value: "off" }, "off"));
    if (gate.of.length) choice.append(made("option", { value: "weighed" }, `off while ${gate.of.map((j) => data.labels[j]).join(", ")} weighs 0`));
    return made("div", { class: "gate" }, made("label", { for: `gate${k}` }, "Factor ", made("code", {}, gate.text)),
      choice, made("span", { class: "muted" }, `changes ${gate.touched} of ${data.n} scores`));
  },

  mean(name) {
    const [, , aggregator, exponent] = MEANS.find(([other]) => other === name) || MEANS[0];
    state.mean = name;
    state.aggregator = aggregator;
    if (exponent !== null) state.exponent = exponent;
    else if (published.mean === "power") state.exponent = published.exponent;
    this.show();
    changed({ rule: true });
  },

  exponent(value) {
    if (Number.isFinite(value)) state.exponent = Math.max(-20, Math.min(20, value));
    this.show();
    changed({ rule: true });
  },

  show() {
    byId("aggregator").value = state.mean;
    byId("exponent").hidden = byId("exponent-label").hidden = state.mean !== "power";
    byId("exponent").value = state.exponent;
    data.gates.forEach((_, k) => { byId(`gate${k}`).value = state.gates[k]; });
  },
};

// --- the first, and the nearest change ---------------------------------------------------------------------------------

function showFirst() {
  const first = now.leaders[0], line = byId("first");
  if (first === undefined) { line.textContent = "No system has a score in this view."; return; }
  const more = now.leaders.length > 1 ? ` and ${now.leaders.length - 1} tied` : "";
  line.replaceChildren(made("span", { class: "label" }, "First "), made("b", {}, made("bdi", {}, data.names[first])),
    ` ${number(now.values[first])}${more}`, made("span", { class: "label moved" }, ` · ${changedCount()}`));
}

function changedCount() {
  let n = 0;
  for (let i = 0; i < rule.n; i++) if (change(i)) n++;
  return n ? `${n} of ${rule.n} ranks differ from published` : "every rank is as published";
}

// By how many ranks a system rose; 0 within a published tie, NaN where it has no rank now or had none.
function change(i) {
  const low = before[i], high = before[i] + ties[i], rank = now.ranks[i];
  if (Number.isNaN(rank) || Number.isNaN(low)) return NaN;
  return rank < low ? low - rank : rank > high ? high - rank : 0;
}

function showFlip() {
  const line = byId("flip");
  if (!now.flip) {
    line.textContent = state.aggregator !== "power" ? "Under this rule the weights do not matter, only which of them are 0."
      : "No shift of the free weights gives the lead to another system.";
    return;
  }
  const shift = (wanted) => now.flip.weights.map((w, j) => [j, wanted * (w - state.weights[j])]).filter(([, d]) => d > 1e-9).sort((a, b) => b[1] - a[1]);
  const named = (list) => list.map(([j, d]) => (list.length > 1 ? `${data.labels[j]} (${(100 * d).toFixed(1)})` : data.labels[j])).join(", ");
  const from = shift(-1), total = from.reduce((sum, [, d]) => sum + d, 0);
  line.replaceChildren(made("span", { class: "diamond", "aria-hidden": "true" }),
    `${points(total)} from ${named(from)} to ${named(shift(1))} hand the lead to `, made("bdi", {}, data.names[now.flip.to]), ". ",
    made("button", { type: "button", class: "plain", id: "show-flip", onclick: () => { state.weights = sharesAfter(state.weights, now.flip.weights); changed(); } }, "Go there"),
    now.flip.isPair ? made("span", { class: "muted" }, " (nearest shift between two columns)") : "");
}

// --- the table ---------------------------------------------------------------------------------------------------------

const table = {
  columns: [], rows: [], order: [],

  build() {
    this.columns = [
      { key: "rank", text: "Rank", short: "#", is: "n rank", of: (i) => now.ranks[i], up: true, show: (i) => (Number.isNaN(now.ranks[i]) ? "–" : String(now.ranks[i])) },
      { key: "change", text: "Change", short: "±", is: "n change", of: (i) => change(i), up: false },
      { key: "name", text: "System", is: "name", of: (i) => data.names[i], up: true },
      { key: "score", text: "Score", is: "n score", of: (i) => now.values[i], up: rule.sign < 0, show: (i) => number(now.values[i]) },
      { key: "published", text: data.scoreTexts ? "Published" : "By rule", is: "n was", of: (i) => orNaN(data.published[i]), up: rule.sign < 0, show: (i) => (data.scoreTexts ? data.scoreTexts[i] : number(orNaN(data.published[i]))) },
      ...data.columns.map((column, k) => ({ key: `c${k}`, text: column.name, is: "n cell", of: (i) => orNaN(column.values[i]), up: column.lower, show: (i) => column.texts[i] })),
    ];
    const heads = this.columns.map((column) => made("th", { scope: "col", role: "columnheader", class: column.is, "data-key": column.key },
      made("button", { type: "button", class: "sort", title: column.text, onclick: () => this.sortBy(column) },
        ...(column.short ? [made("span", { "aria-hidden": "true" }, column.short), made("span", { class: "sr" }, column.text)] : [column.text]))));
    byId("thead").append(made("tr", { role: "row" }, made("th", { scope: "col", role: "columnheader", class: "pin" }, made("span", { class: "sr" }, "Pin")), ...heads));
    this.widen();
    byId("search").addEventListener("input", (e) => { state.search = e.target.value; changed(); });
    byId("more").addEventListener("click", () => { state.limit = Infinity; changed(); });
    addEventListener("scroll", () => this.fillSeen(), { passive: true });
  },

  // Each component's column is as wide as its header, within reason; the table scrolls sideways where that is too much.
  widen() {
    const widths = data.columns.map((column) => Math.max(3.8, Math.min(9, column.name.length * 0.48 + 1.3)));
    byId("table").style.setProperty("--more", widths.map((width) => `${width}rem`).join(" "));
    byId("table").style.setProperty("--columns", `${widths.reduce((sum, width) => sum + width, 0)}rem`);
  },

  sortBy(column) {
    state.up = state.sort === column.key ? !state.up : column.up;
    state.sort = column.key;
    changed();
  },

  // Which system stands where: the pinned first, then all that match.
  arrange() {
    const column = this.columns.find((one) => one.key === state.sort) || this.columns[0], sign = state.up ? 1 : -1;
    const keys = Array.from({ length: rule.n }, (_, i) => column.of(i)), text = column.key === "name";
    const compare = text ? (a, b) => sign * keys[a].localeCompare(keys[b]) : (a, b) => sign * (keys[a] - keys[b]);
    const hasKey = (i) => text || !Number.isNaN(keys[i]);
    const sorted = Array.from(keys.keys()).sort((a, b) => (hasKey(a) && hasKey(b) ? compare(a, b) : hasKey(b) - hasKey(a)) || byRank(a, b));
    const wanted = state.search.trim().toLowerCase();
    const matching = wanted ? sorted.filter((i) => data.names[i].toLowerCase().includes(wanted)) : sorted;
    this.pinned = sorted.filter((i) => state.pins.includes(i));
    this.order = [...this.pinned, ...matching];
    this.matching = matching.length;
    for (const head of byId("thead").querySelectorAll("th[data-key]")) {
      if (head.dataset.key === state.sort) head.setAttribute("aria-sort", state.up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
    this.resize();
  },

  resize() {
    const wanted = Math.min(this.order.length, state.limit + this.pinned.length), body = byId("tbody");
    while (this.rows.length < wanted) this.rows.push(this.row());
    const attached = body.childElementCount;
    if (attached < wanted) body.append(...this.rows.slice(attached, wanted).map((row) => row.element));
    else for (let k = attached; k > wanted; k--) body.lastChild.remove();
    this.count = wanted;
    const more = byId("more"), left = this.order.length - wanted;
    more.hidden = left <= 0;
    more.textContent = `Show ${left} more`;
    const without = now.ranks.filter(Number.isNaN).length;
    byId("found").textContent = [
      state.search.trim() ? `${this.matching} of ${rule.n} systems match` : "",
      without ? `${without} without a score here` : "", data.broken.length ? "† the rule does not give the published score" : "",
    ].filter(Boolean).join(" · ");
  },

  row() {
    const cells = this.columns.map((column) => (column.key === "name" ? made("th", { class: column.is, scope: "row", role: "rowheader" }) : made("td", { class: column.is, role: "cell" })));
    const parts = { arrow: made("span", { "aria-hidden": "true" }), words: made("span", { class: "sr" }), name: made("bdi"), mark: made("span", { class: "mark" }) };
    cells[1].append(parts.arrow, parts.words);
    cells[2].append(parts.name, parts.mark);
    const pin = made("button", { type: "button", class: "pin", "aria-pressed": "false" });
    const element = made("tr", { role: "row" }, made("td", { class: "pin", role: "cell" }, pin), ...cells);
    const row = { element, cells, parts, pin, system: -1, texts: [] };
    pin.addEventListener("click", () => this.pin(row.system));
    return row;
  },

  pin(i) {
    state.pins = state.pins.includes(i) ? state.pins.filter((other) => other !== i) : [...state.pins, i];
    changed();
  },

  // The rows in sight, at once.
  fillSeen(top = byId("tbody").getBoundingClientRect().top) {
    if (!this.count) return;
    this.height ||= this.rows[0].element.offsetHeight;
    const from = Math.max(0, Math.floor(-top / this.height) - 2);
    for (let k = from; k < Math.min(this.count, from + Math.ceil(innerHeight / this.height) + 5); k++) this.fill(k);
  },

  // All others, a few at a time, so that a drag that goes on is not held up.
  fillAll(from = 0) {
    clearTimeout(this.filling);
    const end = performance.now() + 6;
    let k = from;
    for (; k < this.count && performance.now() < end; k++) this.fill(k);
    if (k < this.count) this.filling = setTimeout(() => this.fillAll(k), 0);
    else byId("table").setAttribute("aria-busy", "false");
  },

  fill(k) {
    const row = this.rows[k], i = this.order[k], isNew = row.system !== i;
    this.columns.forEach((column, c) => {
      if (c === 1) { this.change(row, i); return; }
      if (c === 2 || (!isNew && c > 3)) return;
      const text = column.show(i);
      if (row.texts[c] !== text) { row.cells[c].textContent = text; row.texts[c] = text; }
    });
    const top = now.values[now.leaders[0]], share = top > 0 ? Math.max(0, now.values[i] / top) : 0;
    row.cells[3].style.setProperty("--v", rule.sign > 0 && Number.isFinite(share) ? share.toFixed(3) : 0);
    const isPinned = state.pins.includes(i), kind = `${k < this.pinned.length ? "pinned" : isPinned ? "also" : ""}${now.leaders.includes(i) ? " leads" : ""}${k === this.pinned.length - 1 ? " last" : ""}`;
    if (row.element.className !== kind) row.element.className = kind;
    row.pin.setAttribute("aria-pressed", String(isPinned));
    if (!isNew) return;
    row.system = i;
    row.parts.name.textContent = data.names[i];
    row.parts.name.title = data.names[i];
    row.parts.mark.textContent = data.broken.includes(i) ? " †" : "";
    row.pin.setAttribute("aria-label", `Pin ${data.names[i]}`);
  },

  change(row, i) {
    const by = change(i), kind = by > 0 ? "up" : by < 0 ? "down" : "same";
    const text = by > 0 ? `▲ ${by}` : by < 0 ? `▼ ${-by}` : "";
    if (row.texts[1] === text && row.change === kind) return;
    row.texts[1] = text;
    row.change = kind;
    row.parts.arrow.textContent = text || "·";
    row.parts.words.textContent = by > 0 ? `up ${by}` : by < 0 ? `down ${-by}` : Number.isNaN(by) ? "no rank" : "unchanged";
    row.cells[1].className = `n change ${kind}`;
  },
};

const orNaN = (value) => (value === null ? NaN : value);
function byRank(a, b) { return (now.ranks[a] || Infinity) - (now.ranks[b] || Infinity) || a - b; }

// --- leader's shares ---------------------------------------------------------------------------------------------------

const drawing = {
  timer: 0,

  start() {
    clearTimeout(this.timer);
    Object.assign(this, { random: randomOf(SEED), done: 0, counts: new Float64Array(rule.n), work: prepared(rule, copied(state)), weights: state.weights.slice(), locks: state.locks.slice(), at: new Float64Array(rule.m) });
    this.timer = setTimeout(() => this.step(), 120);
  },

  step() {
    const end = performance.now() + 7;
    while (this.done < DRAWS && performance.now() < end) {
      for (let k = 0; k < 20 && this.done < DRAWS; k++, this.done++) {
        const first = leaders(scores(this.work, drawn(this.weights, this.locks, this.random, this.at)), rule.sign);
        for (const i of first) this.counts[i] += 1 / first.length;
      }
    }
    if (this.done < DRAWS) this.timer = setTimeout(() => this.step(), 0);
    else { now.shares = Array.from(this.counts, (count) => count / DRAWS); showShares(); }
  },
};

function showShares() {
  const first = data.shares ? new Map(data.shares.leaders.map(([i, share, se]) => [i, [share, se]])) : null;
  const lead = (i) => (first && first.get(i) ? first.get(i)[0] : 0);
  const all = Array.from(now.shares.keys()).filter((i) => now.shares[i] > 0 || lead(i) > 0);
  all.sort((a, b) => now.shares[b] - now.shares[a] || lead(b) - lead(a));
  colour(all.slice().sort((a, b) => lead(b) - lead(a) || now.shares[b] - now.shares[a]));
  showBar(all.filter((i) => now.shares[i] > 0));
  byId("h-before").hidden = !first;
  const cell = (share, se) => made("td", { class: "n" }, share > 0 ? percent(share) : "–", made("span", { class: "muted se" }, share > 0 ? errorText(se) : ""));
  byId("shares").replaceChildren(...all.slice(0, 12).map((i) => made("tr", {},
    made("th", { scope: "row" }, made("span", { class: `swatch ${colourOf(i)}`, "aria-hidden": "true" }), made("bdi", {}, data.names[i])),
    ...(first ? [cell(...(first.get(i) || [0, 0]))] : []), cell(now.shares[i], Math.sqrt((now.shares[i] * (1 - now.shares[i])) / DRAWS)))));
  const locked = state.locks.some(Boolean) ? ", locked weights as they are" : "";
  const rest = all.length > 12 ? ` ${all.length - 12} more lead somewhere.` : "";
  byId("drawn").textContent = `Share of the weights that put a system first, ± one standard error; this view: ${DRAWS.toLocaleString("en")} draws (seed ${SEED})${locked}` +
    (data.shares ? `; published rule: ${data.shares.draws.toLocaleString("en")} draws (seed ${data.shares.seed}).` : ".") + rest;
  map.show(true);
}

function colour(order) {
  for (const i of order) if (!now.colours.has(i) && now.colours.size < COLOURS) now.colours.set(i, now.colours.size);
}

function colourOf(i) {
  return now.colours.has(i) ? `c${now.colours.get(i)}` : "cx";
}

function showBar(all) {
  const shown = all.filter((i, k) => k < COLOURS && now.shares[i] >= 0.002), rest = all.filter((i) => !shown.includes(i));
  const parts = shown.map((i) => {
    const part = made("span", { class: `part ${colourOf(i)}` }, now.shares[i] >= 0.08 ? made("bdi", {}, data.names[i]) : "", now.shares[i] >= 0.05 ? made("small", {}, ` ${Math.round(100 * now.shares[i])}%`) : "");
    part.style.setProperty("--share", now.shares[i]);
    part.title = `${data.names[i]}: ${percent(now.shares[i])} of the weights`;
    return part;
  });
  const others = made("span", { class: "part cx", hidden: !rest.length });
  others.style.setProperty("--share", rest.reduce((sum, i) => sum + now.shares[i], 0));
  others.title = `${rest.length} others`;
  byId("bar").replaceChildren(...parts, others);
  byId("bar").setAttribute("aria-label", `Share of all weights that put a system first: ${all.slice(0, 6).map((i) => `${data.names[i]} ${percent(now.shares[i])}`).join(", ")}`);
}

// --- the map of three free weights -------------------------------------------------------------------------------------

const map = {
  GRID: rule.n * rule.m < 1000 ? 140 : 60, WIDE: 680, TALL: 640, drawn: "",

  free() { return state.locks.map((locked, j) => (locked ? -1 : j)).filter((j) => j >= 0); },

  build() {
    const canvas = byId("ternary");
    const at = (event) => { if (event.buttons) this.take(event); };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); at(event); });
    canvas.addEventListener("pointermove", at);
  },

  show(isNew = false) {
    const free = this.free(), isOn = free.length === 3 && now.shares !== null;
    byId("map").hidden = !isOn;
    if (!isOn) {
      byId("map-says").textContent = rule.m > 3 ? "With three weights unlocked, a map shows who leads where." : "";
      return;
    }
    const key = JSON.stringify([free, state.mean, state.exponent, state.gates, this.held(free)]);
    if (isNew || key !== this.drawn) this.fields(free);
    this.drawn = key;
    this.paint(free);
  },

  held(free) { return state.weights.map((w, j) => (free.includes(j) ? 0 : Math.round(w * 1e6))); },

  // The leader of each small triangle of a grid over the free mass.
  fields(free) {
    const mass = free.reduce((sum, j) => sum + state.weights[j], 0), work = prepared(rule, state), n = this.GRID;
    this.cells = [];
    for (let a = 0; a < n; a++) for (let b = 0; b < n - a; b++) for (const up of a + b < n - 1 ? [1, 2] : [1]) {
      const shares = [(a + up / 3) / n, (b + up / 3) / n];
      const weights = state.weights.slice();
      [shares[0], shares[1], 1 - shares[0] - shares[1]].forEach((share, k) => { weights[free[k]] = mass * share; });
      this.cells.push([a, b, up, leaders(scores(work, weights), rule.sign)[0]]);
    }
  },

  // Corner k is all free weight on free[k]: 0 at the top, 1 to the left, 2 to the right.
  point(shares) {
    const [top, left, right] = [[this.WIDE / 2, 40], [60, this.TALL - 56], [this.WIDE - 60, this.TALL - 56]];
    return [0, 1].map((d) => shares[0] * top[d] + shares[1] * left[d] + shares[2] * right[d]);
  },

  paint(free) {
    const canvas = byId("ternary"), pen = canvas.getContext("2d"), style = getComputedStyle(document.body), n = this.GRID;
    pen.clearRect(0, 0, this.WIDE, this.TALL);
    const corner = (a, b) => this.point([a / n, b / n, 1 - (a + b) / n]);
    for (const [a, b, up, leader] of this.cells) {
      const at = up === 1 ? [[a, b], [a + 1, b], [a, b + 1]] : [[a + 1, b], [a, b + 1], [a + 1, b + 1]];
      pen.fillStyle = pen.strokeStyle = style.getPropertyValue(`--${colourOf(leader)}`);
      pen.beginPath();
      at.forEach(([x, y], k) => (k ? pen.lineTo(...corner(x, y)) : pen.moveTo(...corner(x, y))));
      pen.closePath();
      pen.fill();
      pen.stroke();
    }
    this.labels(pen, free, style);
    this.here(pen, free, style);
    const seen = [...new Set(this.cells.map((cell) => cell[3]))].filter((i) => i !== undefined);
    const text = `Map of the weights on ${free.map((j) => data.labels[j]).join(", ")}: ${seen.length} systems lead somewhere on it`;
    canvas.setAttribute("aria-label", text);
    byId("map-says").textContent = `${text}. Each corner puts all free weight on its column; the ring is this view. Drag to move it.`;
  },

  labels(pen, free, style) {
    pen.fillStyle = style.getPropertyValue("--ink");
    pen.font = `600 24px ${style.fontFamily}`;
    const cut = (j) => (data.labels[j].length > 22 ? `${data.labels[j].slice(0, 21)}…` : data.labels[j]);
    [["center", this.WIDE / 2, 26], ["left", 4, this.TALL - 16], ["right", this.WIDE - 4, this.TALL - 16]].forEach(([align, x, y], k) => {
      pen.textAlign = align;
      pen.fillText(cut(free[k]), x, y);
    });
  },

  here(pen, free, style) {
    const mass = free.reduce((sum, j) => sum + state.weights[j], 0) || 1;
    const [x, y] = this.point(free.map((j) => state.weights[j] / mass));
    for (const [width, name] of [[9, "--paper"], [4, "--ink"]]) {
      pen.lineWidth = width;
      pen.strokeStyle = style.getPropertyValue(name);
      pen.beginPath();
      pen.arc(x, y, 11, 0, 7);
      pen.stroke();
    }
    pen.lineWidth = 1;
  },

  take(event) {
    const free = this.free(), box = byId("ternary").getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * this.WIDE, y = ((event.clientY - box.top) / box.height) * this.TALL;
    const top = (this.TALL - 56 - y) / (this.TALL - 96), right = (x - 60 - (top * (this.WIDE - 120)) / 2) / (this.WIDE - 120);
    const shares = normalised([top, 1 - top - right, right].map((share) => Math.min(1, Math.max(0, share))));
    const mass = free.reduce((sum, j) => sum + state.weights[j], 0);
    free.forEach((j, k) => { state.weights[j] = mass * shares[k]; });
    changed();
  },
};

// --- the view in the address -------------------------------------------------------------------------------------------

const link = {
  own: "",

  text() {
    const parts = [], list = (values) => values.join(",");
    if (state.weights.some((w, j) => Math.abs(w - published.weights[j]) > 5e-7)) parts.push(["w", list(state.weights.map((w) => Math.round(w * 1e6) / 1e6))]);
    if (state.locks.some(Boolean)) parts.push(["lock", list(this.where(state.locks))]);
    if (state.mean !== published.mean || state.exponent !== published.exponent) parts.push(["mean", state.mean === "power" ? `power:${state.exponent}` : state.mean]);
    if (state.gates.some((how) => how !== "on")) parts.push(["gates", list(state.gates)]);
    if (state.sort !== "rank" || !state.up) parts.push(["sort", `${state.up ? "" : "-"}${state.sort}`]);
    if (state.pins.length) parts.push(["pin", list(state.pins.map((i) => data.rows[i]))]);
    if (state.search.trim()) parts.push(["q", state.search.trim()]);
    return parts.map(([name, value]) => `${name}=${encodeURIComponent(value).replace(/%2C/g, ",").replace(/%3A/g, ":")}`).join("&");
  },

  where(flags) { return flags.map((flag, j) => (flag ? j : -1)).filter((j) => j >= 0); },

  write() {
    const text = this.text();
    if (text === this.own) return;
    this.own = text;
    try { history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search); } catch { location.replace(`#${text}`); }
  },

  // Whatever a link says that is no view of this table is left out.
  read() {
    const given = new URLSearchParams(location.hash.slice(1)), view = copied(published);
    const list = (name) => (given.get(name) || "").split(",").filter(Boolean);
    const weights = list("w").map(Number);
    if (weights.length === rule.m && weights.every((w) => w >= 0 && Number.isFinite(w))) view.weights = normalised(weights);
    for (const j of list("lock").map(Number)) if (j in view.locks) view.locks[j] = true;
    const [name, exponent] = (given.get("mean") || "").split(":");
    const mean = MEANS.find(([other]) => other === name);
    if (mean) Object.assign(view, { mean: name, aggregator: mean[2], exponent: mean[3] ?? Math.max(-20, Math.min(20, Number(exponent) || 0)) });
    list("gates").forEach((how, k) => { if (k in view.gates && ["on", "off", "weighed"].includes(how)) view.gates[k] = how; });
    const sort = (given.get("sort") || "").match(/^(-?)(\w+)$/);
    if (sort && table.columns.some((column) => column.key === sort[2])) Object.assign(view, { sort: sort[2], up: !sort[1] });
    view.pins = list("pin").map((row) => data.rows.indexOf(Number(row))).filter((i) => i >= 0);
    view.search = (given.get("q") || "").slice(0, 200);
    Object.assign(state, view);
    this.own = location.hash.slice(1);
    byId("search").value = view.search;
    switches.show();
    changed({ rule: true });
  },

  async copy() {
    this.write();
    let isDone = false;
    try { await navigator.clipboard.writeText(location.href); isDone = true; } catch { /* a file or a mail may not: the address bar has it */ }
    byId("copied").textContent = isDone ? "Copied." : "The link is in the address bar.";
  },
};

function announce() {
  const first = now.leaders[0];
  const text = first === undefined ? "No system has a score." : `${data.names[first]} leads with ${number(now.values[first])}; ${changedCount()}.`;
  if (byId("says").textContent !== text) byId("says").textContent = text;
}

// --- start -------------------------------------------------------------------------------------------------------------

function start() {
  sliders.build();
  switches.build();
  table.build();
  map.build();
  byId("reset").addEventListener("click", () => { Object.assign(state, { ...copied(published), pins: state.pins, search: state.search, sort: state.sort, up: state.up }); switches.show(); changed({ rule: true }); });
  byId("copy").addEventListener("click", () => link.copy());
  addEventListener("hashchange", () => { if (location.hash.slice(1) !== link.own && location.hash !== "#ranking") link.read(); });
  addEventListener("beforeprint", () => { state.limit = Infinity; draw(); for (let k = 0; k < table.count; k++) table.fill(k); });
  addEventListener("resize", () => { table.height = 0; table.fillSeen(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => map.show());
  byId("more-controls").open = innerWidth > 640;
  byId("layout").hidden = false;
  link.read();
}

start();
