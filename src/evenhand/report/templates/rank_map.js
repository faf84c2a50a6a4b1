// The map of three free weights: who leads where.

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
      byId("map-says").textContent = mapHint(free.length);
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

// What is left to do until there is a map.
function mapHint(n) {
  if (rule.m < 4 || n === 3) return "";
  return n > 3 ? `Lock ${n === 4 ? "one weight" : `${n - 3} weights`}, and a map shows who leads where among the other three.`
    : "With three weights unlocked, a map shows who leads where.";
}
