// Sliders, presets, the mean, the factors, and what stands beside them: who leads, and who nearly does.

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
      if (range.disabled !== isFixed) range.disabled = box.disabled = isFixed;
      if (box.value !== w.toFixed(3)) box.value = w.toFixed(3);
      if (lock.ariaPressed !== String(state.locks[j])) lock.setAttribute("aria-pressed", String(state.locks[j]));
      track.style.setProperty("--w", w);
      if (range === document.activeElement) this.sayOne(j);
    });
    this.ghosts();
  },

  // The weights in words: at once for the slider in hand, for the others when the hand rests.
  say() { this.rows.forEach((_, j) => this.sayOne(j)); },

  sayOne(j) { this.rows[j].range.setAttribute("aria-valuetext", `${(100 * state.weights[j]).toFixed(1)} percent`); },

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
  const named = (list) => list.map(([j, d]) => (list.length > 1 ? `${data.labels[j]} (${rounded(100 * d, 1)})` : data.labels[j])).join(", ");
  const from = shift(-1), total = from.reduce((sum, [, d]) => sum + d, 0);
  line.replaceChildren(made("span", { class: "diamond", "aria-hidden": "true" }),
    `${points(total)} from ${named(from)} to ${named(shift(1))} hand the lead to `, made("bdi", {}, data.names[now.flip.to]), ". ",
    made("button", { type: "button", class: "plain", id: "show-flip", onclick: () => { state.weights = sharesAfter(state.weights, now.flip.weights); changed(); } }, "Go there"),
    now.flip.isPair ? made("span", { class: "muted" }, " (nearest shift between two columns)") : "");
}
