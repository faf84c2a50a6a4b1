// The ranking: one row a place, its cells filled where they are in sight first.

const FIXED = 5; // columns before the components: rank, change, name, score, published

const table = {
  columns: [], rows: [], order: [], seen: [0, Infinity],

  build() {
    this.columns = [
      { key: "rank", text: "Rank", short: "#", is: "n rank", of: (i) => now.ranks[i], up: true, show: (i) => (Number.isNaN(now.ranks[i]) ? "–" : String(now.ranks[i])) },
      { key: "change", text: "Change", short: "±", is: "n change", of: (i) => change(i), up: false },
      { key: "name", text: "System", is: "name", of: (i) => data.names[i], up: true },
      { key: "score", text: "Score", is: "n score", of: (i) => now.values[i], up: rule.sign < 0, show: (i) => number(now.values[i]) },
      { key: "published", text: data.scoreTexts ? "Published" : "By rule", is: "n was", of: (i) => orNaN(data.published[i]), up: rule.sign < 0, show: (i) => (data.scoreTexts ? data.scoreTexts[i] : number(orNaN(data.published[i]))) },
      ...data.columns.map((column, k) => ({ key: `c${k}`, text: column.name, is: "n cell", of: (i) => orNaN(column.values[i]), up: column.lower, show: (i) => column.texts[i] })),
    ];
    this.widen();
    const heads = this.columns.map((column) => made("th", { scope: "col", role: "columnheader", class: column.is, "data-key": column.key },
      made("button", { type: "button", class: "sort", title: column.text, onclick: () => this.sortBy(column) },
        ...(column.short ? [made("span", { "aria-hidden": "true" }, column.short), made("span", { class: "sr" }, column.text)] : [column.text]))));
    byId("thead").append(made("tr", { role: "row" }, made("th", { scope: "col", role: "columnheader", class: "pin" }, made("span", { class: "sr" }, "Pin")), ...heads));
    byId("search").addEventListener("input", (e) => { state.search = e.target.value; changed(); });
    byId("more").addEventListener("click", () => { state.limit = Infinity; changed(); });
    addEventListener("scroll", () => this.fillSeen(), { passive: true });
    byId("scroll").addEventListener("scroll", () => this.shift(), { passive: true });
  },

  // Each component's column is as wide as its header and its longest cell, within reason; what is longer is cut.
  widen() {
    const scores = data.scoreTexts || data.published.map((value) => number(orNaN(value)));
    if (scores.some((text) => text.length > 8)) for (const column of this.columns.slice(3, FIXED)) column.is += " cut";
    const widths = data.columns.map((column, k) => {
      const longest = 1.1 + 0.52 * column.texts.reduce((most, text) => Math.max(most, text.length), 0);
      if (longest > 9) this.columns[FIXED + k].is += " cut";
      return Math.max(3.8, Math.min(9, Math.max(longest, column.name.length * 0.48 + 1.3)));
    });
    byId("table").style.setProperty("--more", widths.map((width) => `${width}rem`).join(" "));
    byId("table").style.setProperty("--n", widths.length);
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
      const how = head.dataset.key === state.sort ? (state.up ? "ascending" : "descending") : null;
      if (how === head.getAttribute("aria-sort")) continue;
      if (how) head.setAttribute("aria-sort", how);
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
    if (wanted !== this.count) body.className = wanted > 120 ? "long" : ""; // only there it pays to leave rows unpainted
    this.count = wanted;
    const more = byId("more"), left = this.order.length - wanted;
    more.hidden = left <= 0;
    put(more, `Show ${left} more`);
    const without = now.ranks.filter(Number.isNaN).length;
    put(byId("found"), [
      state.search.trim() ? `${this.matching} of ${rule.n} systems match` : "",
      without ? `${without} without a score here` : "", data.broken.length ? "† the rule does not give the published score" : "",
    ].filter(Boolean).join(" · "));
  },

  row() {
    const cells = this.columns.map((column) => (column.key === "name" ? made("th", { class: column.is, scope: "row", role: "rowheader" }) : made("td", { class: column.is, role: "cell" })));
    const text = () => document.createTextNode(""), nodes = cells.map(text);
    const parts = { name: text(), mark: broken.size ? made("span", { class: "mark" }) : null };
    parts.bdi = made("bdi", {}, parts.name);
    cells.forEach((cell, c) => {
      if (c === 2) cell.append(parts.bdi, ...(parts.mark ? [parts.mark] : []));
      else cell.append(nodes[c]);
    });
    const pin = made("button", { type: "button", class: "pin", "aria-pressed": "false" });
    const element = made("tr", { role: "row" }, made("td", { class: "pin", role: "cell" }, pin), ...cells);
    const row = { element, cells, nodes, parts, pin, system: -1, texts: [], shown: new Int32Array(cells.length).fill(-1), isPinned: false, kind: "" };
    pin.addEventListener("click", () => this.pin(row.system));
    return row;
  },

  pin(i) {
    state.pins = state.pins.includes(i) ? state.pins.filter((other) => other !== i) : [...state.pins, i];
    changed();
  },

  // What is in sight: the height of a row, and the first and last component's column. Read where layout is clean.
  measure() {
    const box = byId("scroll"), left = box.scrollLeft, heads = byId("thead").querySelectorAll("th.cell");
    const edges = Array.from(heads, (head) => head.offsetLeft), end = left + box.clientWidth;
    this.height = this.rows.length ? this.rows[0].element.offsetHeight : 0;
    this.seen = [edges.filter((edge) => edge < left).length - 1, edges.filter((edge) => edge < end).length];
  },

  shift() {
    byId("table").classList.toggle("aside", byId("scroll").scrollLeft > 0);
    this.measure();
    this.fillSeen();
  },

  // The cells in sight, at once.
  fillSeen(top = byId("tbody").getBoundingClientRect().top) {
    if (!this.count) return;
    if (!this.height) this.measure();
    const from = Math.max(0, Math.floor(-top / this.height) - 1), [first, last] = this.seen;
    const end = Math.min(this.count, from + Math.ceil(innerHeight / this.height) + 2);
    for (let k = from; k < end; k++) this.fill(k, first, last);
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

  // A place, with the components from first to before last.
  fill(k, first = 0, last = Infinity) {
    const row = this.rows[k], i = this.order[k];
    this.put(row, 0, this.columns[0].show(i));
    this.change(row, i);
    this.put(row, 3, this.columns[3].show(i));
    this.put(row, 4, this.columns[4].show(i));
    this.dress(row, k, i);
    if (row.system !== i) this.rename(row, i);
    const end = Math.min(this.columns.length, FIXED + last);
    for (let c = Math.max(FIXED, FIXED + first); c < end; c++) {
      if (row.shown[c] === i) continue;
      row.shown[c] = i;
      this.put(row, c, this.columns[c].show(i));
    }
  },

  // Only what is another text costs layout.
  put(row, c, text) {
    if (row.texts[c] === text) return;
    row.texts[c] = text;
    row.nodes[c].data = text;
  },

  // How a row looks: its bar, whether it leads or is pinned.
  dress(row, k, i) {
    const top = now.values[now.leaders[0]], share = top > 0 ? Math.max(0, now.values[i] / top) : 0;
    const bar = rule.sign > 0 && Number.isFinite(share) ? share.toFixed(3) : "0";
    if (row.bar !== bar) { row.bar = bar; row.cells[3].style.setProperty("--v", bar); }
    const isPinned = state.pins.includes(i), kind = `${k < this.pinned.length ? "pinned" : isPinned ? "also" : ""}${now.leaders.includes(i) ? " leads" : ""}${k === this.pinned.length - 1 ? " last" : ""}`;
    if (row.kind !== kind) { row.kind = kind; row.element.className = kind; }
    if (row.isPinned !== isPinned) { row.isPinned = isPinned; row.pin.setAttribute("aria-pressed", String(isPinned)); }
  },

  rename(row, i) {
    row.system = i;
    row.parts.name.data = data.names[i];
    row.parts.bdi.title = data.names[i];
    if (row.parts.mark) row.parts.mark.textContent = broken.has(i) ? " †" : "";
    row.pin.setAttribute("aria-label", `Pin ${data.names[i]}`);
  },

  change(row, i) {
    const by = change(i), kind = by > 0 ? "up" : by < 0 ? "down" : "same";
    if (row.by === by || (Number.isNaN(row.by) && Number.isNaN(by))) return;
    row.by = by;
    row.nodes[1].data = by > 0 ? `▲ ${by}` : by < 0 ? `▼ ${-by}` : "·";
    row.cells[1].setAttribute("aria-label", by > 0 ? `up ${by}` : by < 0 ? `down ${-by}` : Number.isNaN(by) ? "no rank" : "unchanged");
    row.cells[1].className = `n change ${kind}`;
  },
};
