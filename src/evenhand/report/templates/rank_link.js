// The view in the address, and the start of the page.

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
  addEventListener("resize", () => { table.measure(); table.fillSeen(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => map.show());
  byId("more-controls").open = innerWidth > 640;
  byId("layout").hidden = false;
  link.read();
}

start();
