// The nearest change of leader. No page in here.

"use strict";

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

// Rivals in the order of what they need at least, if all weight that moves came from the worst column; most need no more
// than that look, since a nearer one is known.
function linearFlip(work, weights, free, now) {
  const rule = work.rule, leader = now[0], factor = factors(work, weights), candidates = [], ahead = new Set(now);
  for (let rival = 0; rival < rule.n; rival++) {
    const gains = ahead.has(rival) ? null : gainsOf(work, factor, leader, rival);
    if (gains) candidates.push({ rival, gains, least: leastShift(weights, free, gains) });
  }
  candidates.sort((a, b) => a.least - b.least);
  let best = null;
  for (const { rival, gains, least } of candidates) {
    if (least === Infinity || (best && least >= best.l1)) break;
    const found = transfer(weights, free, gains);
    if (!found || (best && found.l1 >= best.l1)) continue;
    const one = { to: rival, weights: found.weights, l1: found.l1 };
    if (leads(work, one, sharesAfter(weights, one.weights))) best = one;
  }
  return best;
}

function leastShift(weights, free, gains) {
  let lacking = 0, most = -Infinity, worst = Infinity;
  for (let j = 0; j < gains.length; j++) lacking -= weights[j] * gains[j];
  for (const j of free) { if (gains[j] > most) most = gains[j]; if (gains[j] < worst) worst = gains[j]; }
  return lacking <= 0 || most <= worst ? Infinity : 2 * lacking / (most - worst);
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
