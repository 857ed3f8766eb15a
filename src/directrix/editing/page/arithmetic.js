"use strict";
// The arithmetic of the page: the same operations as in Python, on the same 64-bit numbers.

// ── Linear algebra: symmetric matrices of n columns, row by row in one Float64Array ──────────────

/**
 * Replace the lower half of a positive definite matrix by its Cholesky factor.
 *
 * The size is a multiple of four: sums of four rows and four columns at a time load each number
 * once for four products, which takes half the time of one sum after the other.
 */
function cholesky(a, n) {
  for (let i = 0; i < n; i += 4) {
    const A = i * n, B = A + n, C = B + n, D = C + n;
    for (let j = 0; j <= i; j += 4) {
      const P = j * n, Q = P + n, R = Q + n, S = R + n;
      let ap = a[A + j], aq = a[A + j + 1], ar = a[A + j + 2], as = a[A + j + 3];
      let bp = a[B + j], bq = a[B + j + 1], br = a[B + j + 2], bs = a[B + j + 3];
      let cp = a[C + j], cq = a[C + j + 1], cr = a[C + j + 2], cs = a[C + j + 3];
      let dp = a[D + j], dq = a[D + j + 1], dr = a[D + j + 2], ds = a[D + j + 3];
      for (let k = 0; k < j; k++) {
        const p = a[P + k], q = a[Q + k], r = a[R + k], s = a[S + k];
        const w = a[A + k], x = a[B + k], y = a[C + k], z = a[D + k];
        ap -= w * p; aq -= w * q; ar -= w * r; as -= w * s;
        bp -= x * p; bq -= x * q; br -= x * r; bs -= x * s;
        cp -= y * p; cq -= y * q; cr -= y * r; cs -= y * s;
        dp -= z * p; dq -= z * q; dr -= z * r; ds -= z * s;
      }
      a[A + j] = ap; a[A + j + 1] = aq; a[A + j + 2] = ar; a[A + j + 3] = as;
      a[B + j] = bp; a[B + j + 1] = bq; a[B + j + 2] = br; a[B + j + 3] = bs;
      a[C + j] = cp; a[C + j + 1] = cq; a[C + j + 2] = cr; a[C + j + 3] = cs;
      a[D + j] = dp; a[D + j + 1] = dq; a[D + j + 2] = dr; a[D + j + 3] = ds;
      finishBlock(a, n, i, j);
    }
  }
  return a;
}

/** Divide a block of four rows and columns, from which the columns before it are subtracted. */
function finishBlock(a, n, i, j) {
  for (let c = j; c < j + 4; c++) {
    for (let r = Math.max(i, c); r < i + 4; r++) {
      let sum = a[r * n + c];
      for (let k = j; k < c; k++) sum -= a[r * n + k] * a[c * n + k];
      if (r > c) a[r * n + c] = sum / a[c * n + c];
      else if (sum > 0) a[r * n + c] = Math.sqrt(sum);
      else throw new Error(`the matrix of the refit is not positive definite (row ${r})`);
    }
  }
}

/** Solve for one right side, given the Cholesky factor. */
function choleskySolve(factor, n, right) {
  const x = Float64Array.from(right);
  for (let i = 0; i < n; i++) {
    let sum = x[i];
    for (let k = 0; k < i; k++) sum -= factor[i * n + k] * x[k];
    x[i] = sum / factor[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    let sum = x[i];
    for (let k = i + 1; k < n; k++) sum -= factor[k * n + i] * x[k];
    x[i] = sum / factor[i * n + i];
  }
  return x;
}

// ── Rounding: half to even, as NumPy's rint ──────────────────────────────────────────────────────

const BIG = 1.5 * 2 ** 52;
const rint = x => Math.abs(x) < 2 ** 51 ? x + BIG - BIG : Math.round(x);
/** Round to a multiple of 2^-32: sums of such numbers are exact in any order. */
const onGrid = x => rint(x * 4294967296) / 4294967296;

// ── Curve: weight of both classes above every threshold ──────────────────────────────────────────

/** Return the distinct scores, descending, and the weight of each class at each of them by part. */
function rankRows(scores, positive, weight, part, parts) {
  const n = scores.length, sorted = Float64Array.from(scores).sort(), levels = new Float64Array(n);
  let m = 0;
  for (let i = n - 1; i >= 0; i--) if (m === 0 || sorted[i] !== levels[m - 1]) levels[m++] = sorted[i];
  const sums = Array.from({ length: parts }, () => [new Float64Array(m), new Float64Array(m)]);
  for (let i = 0; i < n; i++) {
    let low = 0, high = m - 1;
    const score = scores[i];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (levels[middle] > score) low = middle + 1; else high = middle;
    }
    sums[part[i]][positive[i]][low] += weight === null ? 1 : weight[i];
  }
  return { levels: levels.subarray(0, m), sums };
}

/** Return the curve of some parts of ranked rows, from no row above the threshold to all. */
function curveOf({ levels, sums }, parts) {
  const size = levels.length, kept = new Float64Array(size);
  const tp = new Float64Array(size + 1), fp = new Float64Array(size + 1);
  let m = 0;
  for (let k = 0; k < size; k++) {
    let plus = 0, minus = 0;
    for (const part of parts) { minus += sums[part][0][k]; plus += sums[part][1][k]; }
    if (plus === 0 && minus === 0) continue;
    kept[m] = levels[k];
    tp[m + 1] = tp[m] + plus;
    fp[m + 1] = fp[m] + minus;
    m++;
  }
  return { levels: kept.subarray(0, m), tp: tp.subarray(0, m + 1), fp: fp.subarray(0, m + 1),
    positives: tp[m], negatives: fp[m] };
}

/** Return the threshold at a position: between two scores, or as far beyond all as they reach. */
function thresholdOf(curve, index) {
  const { levels } = curve, last = levels.length;
  const reach = levels[0] - levels[last - 1] || 1;
  if (index <= 0) return levels[0] + reach;
  if (index >= last) return levels[last - 1] - reach;
  return (levels[index - 1] + levels[index]) / 2;
}

/** Return the number of distinct scores of a curve that are above a threshold. */
function indexOf(curve, threshold) {
  let low = 0, high = curve.levels.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve.levels[middle] > threshold) low = middle + 1; else high = middle;
  }
  return low;
}

// ── Metrics: the best threshold of a curve, and the value there ──────────────────────────────────

const precisionOf = (t, f, p) => {
  const right = p * t, both = right + (1 - p) * f;
  return both > 0 ? right / both : 1;
};

/** Interpolate linearly between points of increasing xs, as NumPy's interp. */
function interpolate(x, xs, ys) {
  const last = xs.length - 1;
  if (x >= xs[last]) return ys[last];
  if (x < xs[0]) return ys[0];
  let low = 0, high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle; else high = middle;
  }
  if (xs[low] === x) return ys[low];
  return (ys[low + 1] - ys[low]) / (xs[low + 1] - xs[low]) * (x - xs[low]) + ys[low];
}

const SLACK = 1e-12;

/** Metrics of both rates and the share of positives. */
const AT_RATES = {
  Error: (t, f, p) => p * (1 - t) + (1 - p) * f,
  Cost: (t, f, p, given) => given.fn * p * (1 - t) + given.fp * (1 - p) * f,
  BalancedError: (t, f) => 0.5 * (1 - t) + 0.5 * f,
  FBeta: (t, f, p, given) => {
    const square = given.beta ** 2;
    return (1 + square) * p * t / (square * p + p * t + (1 - p) * f);
  },
  MCC: (t, f, p) => {
    const share = p * t + (1 - p) * f;
    const spread = Math.sqrt(Math.max(share * (1 - share), 0));
    return Math.sqrt(p * (1 - p)) * (spread > 0 ? (t - f) / spread : 0);
  },
  GMean: (t, f) => Math.sqrt(t * (1 - f)),
  RecallAtFPR: t => t,
  FPRAtRecall: (t, f) => f,
  PrecisionAtRecall: precisionOf,
  RecallAtPrecision: t => t,
};
/** The rate that a metric limits, and the parameter that says at what. */
const LIMITED = {
  RecallAtFPR: ["fpr", "fpr"],
  FPRAtRecall: ["tpr", "recall"],
  PrecisionAtRecall: ["tpr", "recall"],
  RecallAtPrecision: ["precision", "precision"],
};
const RANKINGS = new Set(["AUC", "PartialAUC", "AveragePrecision"]);

/** A metric of the state: {name, parameters, greater_is_better, at}. */
class PageMetric {
  constructor({ text, label, parameters, greater_is_better: greater, at }) {
    Object.assign(this, { name: text.split("(")[0], label, parameters, greater, at });
    this.ranks = RANKINGS.has(this.name);
    this.limited = LIMITED[this.name] ?? null;
    if (!this.ranks && !(this.name in AT_RATES)) throw new Error(`this page does not know ${label}`);
  }

  at_rates(t, f, p) {
    return AT_RATES[this.name](t, f, p, this.parameters);
  }

  /** Return the position of the best threshold; a limit is the given one. */
  best(curve, limit = this.limited && this.parameters[this.limited[1]]) {
    const { tp, fp, positives, negatives } = curve, p = positives / (positives + negatives);
    const of = AT_RATES[this.ranks ? "BalancedError" : this.name], given = this.parameters;
    const sign = !this.ranks && this.greater ? -1 : 1, limited = this.limited && this.limited[0];
    let best = 0, least = Infinity;
    for (let k = 0; k < tp.length; k++) {
      const t = tp[k] / positives, f = fp[k] / negatives;
      if (limited === "fpr" ? f > limit + SLACK : limited === "tpr" ? t < limit - SLACK
        : limited === "precision" && precisionOf(t, f, p) < limit - SLACK) continue;
      const loss = rint(4294967296 * sign * of(t, f, p, given));
      if (loss < least) { least = loss; best = k; }
    }
    return best;
  }

  /** Return the metric at a threshold; a ranking ignores it. */
  value(curve, index) {
    if (this.ranks) return this.name === "AveragePrecision" ? averagePrecision(curve) : this.area(curve);
    const { tp, fp, positives, negatives } = curve;
    return this.at_rates(tp[index] / positives, fp[index] / negatives, positives / (positives + negatives));
  }

  get reach() {
    return this.name === "PartialAUC" ? this.parameters.max_fpr : 1;
  }

  area({ tp, fp, positives, negatives }) {
    const limit = this.reach;
    let sum = 0;
    for (let k = 1; k < fp.length; k++) {
      const before = fp[k - 1] / negatives, after = fp[k] / negatives;
      if (before >= limit) break;
      const run = after - before, inside = Math.min(after, limit) - before;
      const low = tp[k - 1] / positives, rise = tp[k] / positives - low;
      if (run > 0) sum += inside * (low + 0.5 * (inside / run) * rise);
    }
    return sum / limit;
  }

  /** Return what rows of both classes contribute to a ranking, by level of the curve. */
  rowValues(curve) {
    const { tp, fp, positives, negatives } = curve, size = curve.levels.length;
    const plus = new Float64Array(size), minus = new Float64Array(size);
    if (this.name === "AveragePrecision") {
      let below = [0, 0];
      for (let k = size; k >= 1; k--) {
        const flagged = tp[k] + fp[k], precision = flagged > 0 ? tp[k] / flagged : 1;
        const slope = (tp[k] - tp[k - 1]) / positives * precision * (1 - precision);
        below = [below[0] + (tp[k] > 0 ? slope / (tp[k] / positives) : 0),
          below[1] + (fp[k] > 0 ? slope / (fp[k] / negatives) : 0)];
        plus[k - 1] = precision + below[0];
        minus[k - 1] = -below[1];
      }
      return [plus, minus];
    }
    const limit = this.reach;
    const tpr = tp.map(value => value / positives), fpr = fp.map(value => value / negatives);
    const atLimit = interpolate(limit, fpr, tpr);
    for (let k = 0; k < size; k++) {
      const t = (tpr[k] + tpr[k + 1]) / 2, f = (fpr[k] + fpr[k + 1]) / 2;
      plus[k] = Math.min(Math.max(1 - f / limit, 0), 1);
      minus[k] = f < limit ? (t - atLimit) / limit : 0;
    }
    return [plus, minus];
  }
}

function averagePrecision({ tp, fp, positives }) {
  let sum = 0;
  for (let k = 1; k < tp.length; k++) sum += (tp[k] - tp[k - 1]) / positives * (tp[k] / (tp[k] + fp[k]));
  return sum;
}

// ── Intervals ────────────────────────────────────────────────────────────────────────────────────

const Z = 1.959963984540054;

/** Return Wilson's 95 % interval of a share of n rows. */
function wilson(share, n) {
  if (!(n > 0)) return [0, 1];
  const middle = share + Z * Z / (2 * n);
  const reach = Z * Math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n));
  const below = 1 + Z * Z / n;
  return [
    Math.min(Math.max((middle - reach) / below, 0), share),
    Math.max(Math.min((middle + reach) / below, 1), share),
  ];
}

/** Return the interval of a ranking on the scale of log-odds, with DeLong's variance. */
function rankingInterval(metric, curve, sizes, value) {
  const values = metric.rowValues(curve), sums = [[curve.tp, curve.positives], [curve.fp, curve.negatives]];
  let variance = 0;
  values.forEach((of, side) => {
    const [above, all] = sums[side];
    let mean = 0, square = 0;
    for (let k = 0; k < of.length; k++) mean += (above[k + 1] - above[k]) / all * of[k];
    for (let k = 0; k < of.length; k++) square += (above[k + 1] - above[k]) / all * (of[k] - mean) ** 2;
    variance += square / Math.max(sizes[side], 1);
  });
  const fewest = Math.max(Math.min(...sizes), 1), nearOne = 1 - 0.5 / (fewest + 1);
  const deviation = Math.sqrt(Math.max(variance, nearOne * (1 - nearOne) / fewest / 3));
  const inside = Math.min(Math.max(value, 1e-9), 1 - 1e-9), margin = Math.min(deviation, 0.5);
  const at = Math.min(Math.max(inside, margin), 1 - margin);
  const odds = Math.log(at / (1 - at)), reach = Z * deviation / (at * (1 - at));
  const share = x => 1 / (1 + Math.exp(-x));
  return [Math.min(share(odds - reach), value), Math.max(share(odds + reach), value)];
}

/** Return the interval of a metric of rates: each rate is varied alone (Newcombe 1998). */
function ratesInterval(metric, curve, sizes, [t, f, p]) {
  const value = metric.at_rates(t, f, p), limited = metric.limited && metric.limited[0];
  const tpr = () => curve.tp.map(x => x / curve.positives), fpr = () => curve.fp.map(x => x / curve.negatives);
  const unit = x => Math.min(Math.max(x, 0), 1);
  const along = (end, from, xs, ys) => interpolate(end, xs, ys) - interpolate(from, xs, ys);
  const varied = [
    wilson(t, sizes[0]).map(end => metric.at_rates(end,
      limited === "tpr" ? unit(f + along(end, t, tpr(), fpr())) : f, p)),
    wilson(f, sizes[1]).map(end => metric.at_rates(
      limited === "fpr" ? unit(t + along(end, f, fpr(), tpr())) : t, end, p)),
    wilson(p, sizes[0] + sizes[1]).map(end => metric.at_rates(t, f, end)),
  ];
  let down = 0, up = 0;
  for (const [low, high] of varied) {
    down += Math.min(0, low - value, high - value) ** 2;
    up += Math.max(0, low - value, high - value) ** 2;
  }
  const ends = [value - Math.sqrt(down), value + Math.sqrt(up)];
  return metric.name === "Cost" ? ends : metric.name === "MCC" ? ends : ends.map(unit);
}

// ── Bytes ────────────────────────────────────────────────────────────────────────────────────────

function bytesOf(text) {
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Return the bytes of a gzip file in base64. */
async function unpacked(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
