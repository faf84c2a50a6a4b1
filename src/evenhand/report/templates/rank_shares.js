// Leader's shares, drawn in the browser, and the bar and the table of them.

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
  const cell = (share, se) => made("td", { class: "n" }, share > 0 ? percent(share, se) : "–", made("span", { class: "muted se" }, share > 0 ? errorText(se) : ""));
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
