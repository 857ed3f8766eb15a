"use strict";
// The card and its edits: groups of atoms (the finest bins), refitted by one solve a fold.

const RIDGE = 0.1, JITTER = 1e-9, BYTE = 1020, CHANGES = 400;

/** Return the arrays of a state that were packed, and everything else as it is. */
async function unpackedState(state) {
  const types = { u1: Uint8Array, b1: Uint8Array, u2: Uint16Array, i4: Int32Array, i8: BigInt64Array, f8: Float64Array };
  const entries = await Promise.all(Object.entries(state).map(async ([name, value]) => {
    if (value === null || typeof value !== "object" || !("gzip" in value)) return [name, value];
    return [name, new types[value.dtype]((await unpacked(value.gzip)).buffer)];
  }));
  return Object.fromEntries(entries);
}

// ── The solve of one set of rows ─────────────────────────────────────────────────────────────────

/** Sums of curvature by pairs of atoms: of all rows, or of all rows but a fold. */
class Curvature {
  constructor(editor, entry) {
    const { nAtoms: size, nRows, nBlocks, atoms, weight } = editor;
    const bytes = editor.curvature.subarray(entry * nRows, (entry + 1) * nRows);
    this.size = size;
    this.pairs = weight === null ? new Uint32Array(size * size) : new Float64Array(size * size);
    let total = 0;
    for (let i = 0, at = 0; i < nRows; i++, at += nBlocks) {
      const q = weight === null ? bytes[i] : bytes[i] * weight[i];
      if (q === 0) continue;
      total += q;
      for (let j = 0; j < nBlocks; j++) {
        const start = atoms[at + j] * size;
        for (let k = 0; k <= j; k++) this.pairs[start + atoms[at + k]] += q;
      }
    }
    this.total = total / BYTE;
    this.first = editor.first.subarray(entry * (size + 1), (entry + 1) * (size + 1));
  }

  mass(atom) {
    return this.pairs[atom * this.size + atom] / BYTE;
  }

  /** Return the sums by pairs of groups; ``place`` is the group of each atom, or -1. */
  ofGroups(place, n) {
    const { size, pairs } = this, rows = new Float64Array(n * size), sums = new Float64Array(n * n);
    for (let a = 0; a < size; a++) {
      if (place[a] < 0) continue;
      const to = place[a] * size, from = a * size;
      for (let c = 0; c <= a; c++) rows[to + c] += pairs[from + c];
    }
    // A block of a group has its atoms together, so that the lower half has every pair of groups.
    for (let g = 0; g < n; g++) {
      for (let c = 0; c < size; c++) if (place[c] >= 0) sums[g * n + place[c]] += rows[g * size + c];
    }
    return sums;
  }
}

/** Fit the points of the groups of a state to one set of rows. */
function solve(editor, state, entry) {
  const curvature = editor.curvatures[entry], { kappa, kind } = editor.scale;
  const group = Int32Array.from(state.group), fixed = Float64Array.from(state.fixed);
  for (;;) {
    const made = solveGroups(editor, curvature, group, fixed);
    if (!mergeDisordered(editor, state, made, group, fixed)) {
      return finish(editor, curvature, made, state, kind, kappa);
    }
  }
}

function solveGroups(editor, curvature, group, fixed) {
  const { blocks, nAtoms, scale: { kappa } } = editor;
  const place = new Int32Array(nAtoms).fill(-1), names = [], blockOf = [];
  blocks.forEach((block, k) => {
    const own = [];
    for (let a = block.first; a < block.first + block.n; a++) if (group[a] === a) own.push(a);
    if (own.length < 2) return;
    for (const name of own) { place[name] = names.length; names.push(name); blockOf.push(k); }
    for (let a = block.first; a < block.first + block.n; a++) place[a] = place[group[a]];
  });
  const n = names.length, gram = curvature.ofGroups(place, n);
  for (let g = 0; g < n; g++) {
    for (let c = 0; c < g; c++) {
      // Two groups of one block share no row; of two blocks, the lower half of pairs has them.
      const both = gram[g * n + c] + gram[c * n + g];
      gram[g * n + c] = gram[c * n + g] = both / BYTE;
    }
    gram[g * n + g] /= BYTE;
  }
  const mass = new Float64Array(n), right = new Float64Array(n + 1);
  for (let a = 0; a < nAtoms; a++) {
    if (place[a] < 0) continue;
    mass[place[a]] += curvature.mass(a);
    right[place[a]] += curvature.first[a];
  }
  right[n] = curvature.first[nAtoms];
  for (let g = 0; g < n; g++) gram[g * n + g] = mass[g]; // atoms of a group share no row either
  const v = new Float64Array(n), free = [];
  names.forEach((name, g) => {
    if (Number.isNaN(fixed[name])) free.push(g); else v[g] = kappa * fixed[name];
  });
  const isFixed = names.map(name => !Number.isNaN(fixed[name]));
  const last = free.length, size = 4 * Math.ceil((last + 1) / 4); // rows of the identity fill it up
  const matrix = new Float64Array(size * size), b = new Float64Array(size);
  free.forEach((g, i) => {
    for (let j = 0; j <= i; j++) matrix[i * size + j] = gram[g * n + free[j]];
    matrix[i * size + i] += RIDGE + JITTER;
    b[i] = right[g];
  });
  for (let i = last + 1; i < size; i++) matrix[i * size + i] = 1;
  free.forEach((g, i) => { matrix[last * size + i] = mass[g]; });
  matrix[last * size + last] = curvature.total + JITTER;
  b[last] = right[n];
  for (let g = 0; g < n; g++) {
    if (!isFixed[g]) continue;
    free.forEach((other, i) => { b[i] -= gram[other * n + g] * v[g]; });
    b[last] -= mass[g] * v[g];
  }
  const x = choleskySolve(cholesky(matrix, size), size, b);
  free.forEach((g, i) => { v[g] = x[i]; });
  return { names, blockOf, place, v, mass, gram, isFixed, group, fixed };
}

/** Merge neighbours whose points are out of order; return whether there were any. */
function mergeDisordered(editor, state, { place, v }, group, fixed) {
  const noted = [];
  state.directions.forEach((direction, k) => {
    if (direction === null) return;
    const chain = editor.chain(k, direction);
    for (let i = 1; i < chain.length; i++) {
      const [x, z] = [chain[i - 1], chain[i]];
      if (group[x] !== group[z] && v[place[x]] > v[place[z]]) noted.push([x, z, k]);
    }
  });
  for (const [x, z, k] of noted) {
    const from = group[z], to = group[x];
    if (from === to) continue;
    const value = Number.isNaN(fixed[to]) ? fixed[from] : fixed[to], { first, n } = editor.blocks[k];
    const least = Math.min(from, to);
    for (let a = first; a < first + n; a++) {
      if (group[a] === from || group[a] === to) { group[a] = least; fixed[a] = value; }
    }
  }
  return noted.length > 0;
}

/** Round, centre and print the points of a solution. */
function finish(editor, curvature, made, state, kind, kappa) {
  const { names, blockOf, mass, isFixed } = made, n = names.length, v = made.v.map(onGrid);
  const held = new Set(blockOf.filter((_, g) => isFixed[g])); // blocks with fixed points
  let printed = new Float64Array(n), value = v;
  if (kind === "integer") {
    printed = wholePoints(editor, state, curvature, made, v, held);
  } else {
    const sums = new Map();
    for (let g = 0; g < n; g++) {
      const [all, times] = sums.get(blockOf[g]) ?? [0, 0];
      sums.set(blockOf[g], [all + mass[g], times + mass[g] * v[g]]);
    }
    for (let g = 0; g < n; g++) {
      if (held.has(blockOf[g])) continue;
      const [all, times] = sums.get(blockOf[g]);
      v[g] = onGrid(v[g] - times / all);
    }
    for (let g = 0; g < n; g++) {
      const given = made.fixed[names[g]], exact = Number.isNaN(given) ? v[g] / kappa : given;
      printed[g] = editor.whole ? rint(exact) : exact;
    }
  }
  if (editor.whole) value = printed.map(p => kappa * p);
  let rest = curvature.first[editor.nAtoms];
  for (let g = 0; g < n; g++) rest -= mass[g] * value[g];
  const points = new Float64Array(editor.nAtoms), log = new Float64Array(editor.nAtoms);
  for (let a = 0; a < editor.nAtoms; a++) {
    const g = made.place[a];
    if (g < 0) continue;
    points[a] = printed[g];
    log[a] = value[g];
  }
  return { points, log, base: onGrid(rest / curvature.total), group: made.group };
}

/** Search whole points by changing one at a time, in the curvature of the fit. */
function wholePoints(editor, state, curvature, made, v, held) {
  const { names, blockOf, mass, gram, isFixed } = made, n = names.length;
  const { kappa, largest } = editor.scale;
  const least = new Map();
  for (let g = 0; g < n; g++) least.set(blockOf[g], Math.min(least.get(blockOf[g]) ?? Infinity, v[g]));
  const base = v.map((value, g) => held.has(blockOf[g]) ? value : value - least.get(blockOf[g]));
  const low = names.map((_, g) => held.has(blockOf[g]) ? -largest : 0);
  const w = base.map((value, g) => isFixed[g] ? made.fixed[names[g]] : Math.min(Math.max(rint(value / kappa), low[g]), largest));
  const corner = curvature.total + JITTER, normal = new Float64Array(n * n);
  for (let g = 0; g < n; g++) {
    for (let c = 0; c < n; c++) normal[g * n + c] = gram[g * n + c] - mass[g] * mass[c] / corner;
    normal[g * n + g] += RIDGE + JITTER;
  }
  const next = new Int32Array(n).fill(-1), before = new Int32Array(n).fill(-1);
  state.directions.forEach((direction, k) => {
    if (direction === null) return;
    const groups = [...new Set(editor.chain(k, direction).map(a => made.place[a]))].filter(g => g >= 0);
    groups.forEach((g, i) => {
      if (i > 0) before[g] = groups[i - 1];
      if (i + 1 < groups.length) next[g] = groups[i + 1];
    });
  });
  const slope = new Float64Array(n);
  for (let g = 0; g < n; g++) {
    let sum = 0;
    for (let c = 0; c < n; c++) sum += normal[g * n + c] * (kappa * w[c] - base[c]);
    slope[g] = sum;
  }
  for (let change = 0; change < CHANGES; change++) {
    let best = -1, step = 0, cheapest = 0;
    for (const sign of [1, -1]) {
      for (let g = 0; g < n; g++) {
        if (isFixed[g] || (sign > 0 ? w[g] >= largest || (next[g] >= 0 && w[g] >= w[next[g]])
          : w[g] <= low[g] || (before[g] >= 0 && w[g] <= w[before[g]]))) continue;
        const cost = rint(2 ** 24 * (kappa * kappa / 2 * normal[g * n + g] + sign * kappa * slope[g]));
        if (cost < cheapest) { cheapest = cost; best = g; step = sign; }
      }
    }
    if (best < 0) break;
    w[best] += step;
    for (let c = 0; c < n; c++) slope[c] += step * kappa * normal[c * n + best];
  }
  const lowest = new Map();
  for (let g = 0; g < n; g++) lowest.set(blockOf[g], Math.min(lowest.get(blockOf[g]) ?? Infinity, w[g]));
  return w.map((value, g) => held.has(blockOf[g]) ? value : value - lowest.get(blockOf[g]));
}

// ── Edits: each returns the groups, fixed points and directions after it ─────────────────────────

const EDITS = {
  merge(editor, state, k, { from, to }) {
    const lines = editor.lines(state, k), block = editor.blocks[k];
    const [i, j] = [Math.min(from, to), Math.max(from, to)];
    require(lines[i] && lines[j] && i !== j, `${block.name} has no two lines ${from} and ${to} to merge`);
    const both = [lines[i], lines[j]].every(line => editor.isOrdered(k, line));
    const merged = both ? lines.slice(i, j + 1) : [lines[i], lines[j]];
    const atoms = merged.flat(), values = [...new Set(atoms.map(a => state.fixed[a]).filter(p => !Number.isNaN(p)))];
    require(values.length < 2, `two fixed points cannot be merged in ${block.name}: ${values.join(" and ")}`);
    const next = copied(state), name = Math.min(...atoms);
    for (const a of atoms) { next.group[a] = name; next.fixed[a] = values.length ? values[0] : NaN; }
    return next;
  },
  cuts(editor, state, k, { cuts }) {
    const { first, n, nOrdered, upper, name } = editor.blocks[k];
    require(nOrdered > 1, `${name} has no ordered bins, so that it has no cuts`);
    const ends = new Set(cuts.map(cut => nearestCut(upper, cut)));
    const next = copied(state);
    let start = first;
    for (let i = 0; i < nOrdered; i++) {
      next.group[first + i] = start;
      if (ends.has(i)) start = first + i + 1;
    }
    // A loose atom stays with the group of the least ordered atom of its line.
    for (let a = first + nOrdered; a < first + n; a++) {
      if (state.group[a] < first + nOrdered) next.group[a] = next.group[state.group[a]];
    }
    for (let a = first; a < first + n; a++) next.fixed[a] = NaN;
    return next;
  },
  join_missing(editor, state, k, { to }) {
    const { first, n, missing, name } = editor.blocks[k], lines = editor.lines(state, k);
    require(missing >= 0, `no row has a missing value in ${name}`);
    require(to === null || lines[to], `${name} has no line ${to}`);
    const atom = first + missing, target = to === null ? [] : lines[to].filter(a => a !== atom);
    const left = lines.find(line => line.includes(atom)).filter(a => a !== atom);
    const next = copied(state);
    for (const a of left) next.group[a] = Math.min(...left);
    next.fixed[atom] = target.length ? state.fixed[target[0]] : NaN;
    if (to !== null && lines[to].includes(atom)) return copied(state);
    const all = [...target, atom];
    for (const a of all) next.group[a] = Math.min(...all);
    return next;
  },
  drop(editor, state, k) {
    const { first, n } = editor.blocks[k], next = copied(state);
    for (let a = first; a < first + n; a++) { next.group[a] = first; next.fixed[a] = NaN; }
    next.directions[k] = null;
    return next;
  },
  monotone(editor, state, k, { direction }) {
    const next = copied(state);
    next.directions[k] = direction;
    return next;
  },
  points(editor, state, k, { points: pairs }) {
    const lines = editor.lines(state, k), next = copied(state), { name } = editor.blocks[k];
    for (const [line, value] of pairs) {
      require(lines[line], `${name} has no line ${line}`);
      require(value === null || Number.isFinite(value), `points must be a number, not ${value}`);
      require(value === null || !editor.whole || Number.isInteger(value), `points of this card are whole numbers, not ${value}`);
      for (const a of lines[line]) next.fixed[a] = value === null ? NaN : value;
    }
    return next;
  },
};

function require(holds, message) {
  if (!holds) throw new Error(message);
}

function copied({ group, fixed, directions }) {
  return { group: Int32Array.from(group), fixed: Float64Array.from(fixed), directions: [...directions] };
}

function nearestCut(upper, cut) {
  let best = -1, least = Infinity;
  upper.forEach((end, i) => {
    if (end !== null && Math.abs(end - cut) < least) { least = Math.abs(end - cut); best = i; }
  });
  return best;
}

// ── Editor: a card, its edits, and what each has cost ────────────────────────────────────────────

class Editor {
  static async read(packed) {
    return new Editor(await unpackedState(packed));
  }

  constructor(state) {
    this.blocks = state.blocks.map(Editor.block);
    this.nBlocks = this.blocks.length;
    this.nAtoms = state.n_atoms;
    this.nFolds = state.n_folds;
    this.nRows = state.fold.length;
    this.atoms = this.atomsByRow(state.local_atoms);
    this.positive = state.positive_rows;
    this.fold = state.fold;
    this.weight = state.weight;
    this.curvature = state.curvature;
    this.first = state.first;
    this.scale = state.scale;
    this.whole = state.scale.kind === "integer" || (state.scale.kind === "pdo" && state.scale.rounded);
    this.decimals = this.whole ? 0 : state.scale.kind === "scores" ? 2 : 1;
    this.metric = new PageMetric(state.metric);
    const spread = state.spread ?? (this.metric.limited ? 1.4 : 1.7); // how much less rows tell of a choice
    this.sizes = state.sizes.map(size => size / spread);
    this.label = String(state.positive);
    this.rateName = "positive";
    this.quantile = state.quantile;
    this.calibration = state.calibration ?? null;
    this.cellAtom = state.cell_atom;
    this.cellWeights = state.cell_weights;
    this.bins = JSON.parse(state.bins).columns;
    this.readForm();
    this.countRows();
    this.curvatures = Array.from({ length: 1 + this.nFolds }, (_, f) => new Curvature(this, f));
    this.states = [this.priced(this.startState(state.start))];
    this.order = this.ranked();
    this.steps = [];
    for (const edit of state.edits) this.apply(edit);
  }

  static block(block) {
    return { ...block, n: block.n_atoms, nOrdered: block.n_ordered, upper: block.upper ?? [],
      cutLabels: block.upper_text ?? [] };
  }

  startState({ group, directions, fixed }) {
    const points = new Float64Array(this.nAtoms).fill(NaN);
    for (const [atom, value] of Object.entries(fixed)) points[Number(atom)] = value;
    return { group: Int32Array.from(group, Number), fixed: points,
      directions: this.blocks.map(block => Object.hasOwn(directions, block.name) ? directions[block.name] : null) };
  }

  /** Return the atoms of rows, row by row, from their positions in each block, block by block. */
  atomsByRow(local) {
    const { nRows, nBlocks } = this, atoms = new Uint16Array(nRows * nBlocks);
    this.blocks.forEach(({ first }, j) => {
      for (let i = 0; i < nRows; i++) atoms[i * nBlocks + j] = first + local[j * nRows + i];
    });
    return atoms;
  }

  get now() { return this.states[this.states.length - 1]; }
  get start() { return this.states[0]; }

  /** Count the rows and the positives of each atom. */
  countRows() {
    this.rowsOf = [new Float64Array(this.nAtoms), new Float64Array(this.nAtoms)];
    for (let i = 0, at = 0; i < this.nRows; i++) {
      const side = this.rowsOf[this.positive[i]], weight = this.weight === null ? 1 : this.weight[i];
      for (let j = 0; j < this.nBlocks; j++) side[this.atoms[at++]] += weight;
    }
  }

  /** Return the atoms of each line of a block, the lines in order. */
  lines(state, k) {
    const { first, n } = this.blocks[k], lines = new Map();
    for (let a = first; a < first + n; a++) {
      if (!lines.has(state.group[a])) lines.set(state.group[a], []);
      lines.get(state.group[a]).push(a);
    }
    return [...lines.values()];
  }

  isOrdered(k, line) {
    return line[0] < this.blocks[k].first + this.blocks[k].nOrdered;
  }

  /** Return the atoms of a block in the order of a direction. */
  chain(k, direction) {
    const { first, nOrdered, labels } = this.blocks[k];
    if (Array.isArray(direction)) return direction.map(label => first + labels.indexOf(label));
    const chain = Array.from({ length: nOrdered }, (_, i) => first + i);
    return direction === "decreasing" ? chain.reverse() : chain;
  }

  // ── Price ──

  /** Return a state with its card, its held-out scores and what they are worth. */
  priced(state) {
    const cards = this.curvatures.map((_, f) => solve(this, state, f));
    const scores = this.heldOutScores(cards);
    const all = Array.from({ length: this.nFolds }, (_, f) => f);
    const ranked = rankRows(scores, this.positive, this.weight, this.fold, this.nFolds);
    const curve = curveOf(ranked, all), { metric } = this;
    const limit = metric.limited ? metric.at : null;
    const index = metric.best(curve, limit), threshold = thresholdOf(curve, index);
    const parts = all.map(f => curveOf(ranked, [f]));
    const others = all.map(f => curveOf(ranked, all.filter(other => other !== f)));
    const made = { ...state, cards, scores, curve, threshold, value: metric.value(curve, index) };
    this.expect(made, parts, others, limit);
    const best = part => (metric.greater ? -1 : 1) * metric.value(part, metric.ranks ? 0 : metric.best(part));
    made.foldLosses = parts.map(best);
    made.loss = (best(curve) + mean(made.foldLosses)) / 2;
    this.printCard(made);
    return made;
  }

  expect(made, parts, others, limit) {
    const { metric } = this, { curve } = made, prior = curve.positives / (curve.positives + curve.negatives);
    if (metric.ranks) {
      made.expected = mean(parts.map(part => metric.value(part, 0)));
      made.interval = rankingInterval(metric, curve, this.sizes, made.expected);
      return;
    }
    let tp = 0, fp = 0;
    parts.forEach((part, f) => {
      const at = indexOf(part, thresholdOf(others[f], metric.best(others[f], limit)));
      tp += part.tp[at];
      fp += part.fp[at];
    });
    const rates = [tp / curve.positives, fp / curve.negatives, prior];
    made.expected = metric.at_rates(...rates);
    made.interval = ratesInterval(metric, curve, this.sizes, rates);
  }

  /** Score each row by the card that was fitted without its fold. */
  heldOutScores(cards) {
    const { nRows, nBlocks, atoms, fold, whole, scale: { kappa } } = this, scores = new Float64Array(nRows);
    const of = cards.map(card => whole ? card.points : card.log);
    for (let i = 0, at = 0; i < nRows; i++) {
      const values = of[1 + fold[i]];
      let sum = 0;
      for (let j = 0; j < nBlocks; j++) sum += values[atoms[at++]];
      scores[i] = onGrid((whole ? kappa * sum : sum) + cards[1 + fold[i]].base);
    }
    return scores;
  }

  /** Add what is printed: base points, cutoff, and the lines of every column. */
  printCard(made) {
    const { kind, kappa, base_points: base, base_odds: odds } = this.scale, card = made.cards[0];
    const { threshold } = made;
    let intercept = 0;
    if (kind === "scores") intercept = (card.base - threshold) / kappa;
    else if (kind === "pdo") {
      intercept = base + (card.base + Math.log(odds)) / kappa;
      if (this.whole) intercept = rint(intercept);
    }
    let at = intercept + (threshold - card.base) / kappa;
    if (kind === "scores") at = 0;
    if (this.whole) at = kappa > 0 ? Math.floor(at) + 0.5 : Math.ceil(at) - 0.5;
    made.intercept = intercept;
    made.cutoff = at;
    made.higherIsPositive = kappa > 0;
    made.toScore = cut => card.base + (cut - intercept) * kappa;
    made.toPoints = score => intercept + (score - card.base) / kappa;
    const { levels } = made.curve, ends = [levels[0], levels[levels.length - 1]].map(made.toPoints);
    made.low = Math.min(...ends);
    made.high = Math.max(...ends);
    made.columns = this.blocks.map((block, k) => this.printColumn(made, card, block, k));
  }

  printColumn(made, card, block, k) {
    const lines = this.lines(made, k), { first, nOrdered } = block;
    const groups = lines.map(atoms => {
      const inOrder = atoms.filter(a => a < first + nOrdered).map(a => a - first);
      const sum = side => atoms.reduce((total, a) => total + side[a], 0);
      return { atoms, ordered: inOrder.length > 0, first: inOrder[0] + 1, last: inOrder[inOrder.length - 1] + 1,
        label: lineLabel(block, atoms.map(a => a - first)), points: card.points[atoms[0]],
        fixed: !Number.isNaN(made.fixed[atoms[0]]), rows: sum(this.rowsOf[0]) + sum(this.rowsOf[1]), positives: sum(this.rowsOf[1]) };
    });
    return { groups, dropped: lines.length < 2, direction: made.directions[k] };
  }

  /** Return the blocks of the first card, that with the widest range of points first. */
  ranked() {
    const width = ({ groups }) => Math.max(...groups.map(group => group.points)) - Math.min(...groups.map(group => group.points));
    return this.blocks.map((_, k) => k).sort((a, b) => width(this.start.columns[b]) - width(this.start.columns[a]));
  }

  /** Return the number of printed points; lines that a direction makes equal are one. */
  countLines({ cards: [{ group }] }) {
    const sizes = this.blocks.map(({ first, n }) => new Set(group.subarray(first, first + n)).size);
    return sizes.reduce((sum, size) => sum + (size > 1 ? size : 0), 0);
  }

  /** Return by how much a state is better than one before, with its interval over folds. */
  gap(now, before) {
    const differences = now.foldLosses.map((loss, f) => before.foldLosses[f] - loss);
    const gap = before.loss - now.loss, middle = mean(differences), folds = differences.length;
    const variance = differences.reduce((sum, d) => sum + (d - middle) ** 2, 0) / (folds - 1);
    const reach = Math.hypot(this.quantile * Math.sqrt(variance * (1 / folds + 1 / (folds - 1))), gap - middle);
    return { mean: gap, low: gap - reach, high: gap + reach };
  }

  // ── Edits ──

  apply(edit) {
    const before = this.now, next = this.edited(before, edit), made = this.priced(next);
    this.states.push(made);
    this.steps.push({ edit, text: this.wording(before, edit), gap: this.gap(made, before) });
  }

  edited(state, edit) {
    const k = this.blocks.findIndex(block => block.name === edit.column);
    require(k >= 0, `the card has no column ${edit.column}`);
    require(Object.hasOwn(EDITS, edit.edit), `there is no edit "${edit.edit}"`);
    const next = EDITS[edit.edit](this, state, k, edit);
    this.requireOrder(next, k);
    return next;
  }

  requireOrder({ group, fixed, directions }, k) {
    if (directions[k] === null) return;
    let last = -Infinity;
    for (const a of this.chain(k, directions[k])) {
      if (Number.isNaN(fixed[a])) continue;
      require(this.scale.kappa * fixed[a] >= last, `fixed points of ${this.blocks[k].name} are against its direction`);
      last = this.scale.kappa * fixed[a];
    }
  }

  undo() {
    this.states.pop();
    return this.steps.pop();
  }

  /** Take back one edit and make those after it again. */
  remove(index) {
    const [states, steps] = [this.states, this.steps];
    this.states = states.slice(0, index + 1);
    this.steps = steps.slice(0, index);
    try {
      for (const { edit } of steps.slice(index + 1)) this.apply(edit);
    } catch (error) {
      [this.states, this.steps] = [states, steps];
      throw error;
    }
  }

  saved() {
    return `${JSON.stringify({ layout: 1, edits: this.steps.map(step => step.edit) }, null, 1)}\n`;
  }

  /** Return an edit in words. */
  wording(state, { edit, column, ...given }) {
    const k = this.blocks.findIndex(block => block.name === column);
    const label = line => lineLabel(this.blocks[k], this.lines(state, k)[line].map(a => a - this.blocks[k].first));
    switch (edit) {
      case "merge": return `${column}: merge ${label(given.from)} and ${label(given.to)}`;
      case "cuts": return `${column}: ${given.cuts.length ? `cuts at ${given.cuts.map(cut => this.cutText(k, cut)).join(", ")}` : "no cuts"}`;
      case "join_missing": return given.to === null ? `${column}: missing by itself` : `${column}: missing joins ${label(given.to)}`;
      case "drop": return `${column}: left out`;
      case "monotone": return `${column}: ${{ increasing: "risk rises", decreasing: "risk falls" }[given.direction] ?? (given.direction === null ? "any order" : "levels in an order of risk")}`;
      default: return `${column}: ${given.points.map(([line, value]) => value === null ? `${label(line)} free` : `${label(line)} fixed at ${value}`).join(", ")}`;
    }
  }

  cutText(k, cut) {
    const at = nearestCut(this.blocks[k].upper, cut);
    return at < 0 ? String(cut) : this.blocks[k].cutLabels[at];
  }

  /** Return the positions of the cuts of a column: after so many ordered atoms. */
  cutsOf(k) {
    return this.now.columns[k].groups.filter(group => group.ordered).slice(1).map(group => group.first - 1);
  }

  freeCuts(k) {
    const { nOrdered, cutLabels } = this.blocks[k], used = new Set(this.cutsOf(k));
    return Array.from({ length: Math.max(nOrdered - 1, 0) }, (_, i) => i + 1).filter(after => !used.has(after))
      .map(after => ({ cut: after, label: cutLabels[after - 1] }));
  }

  /** Return between which positions a cut can be moved without crossing another. */
  cutRange(k, after) {
    const cuts = this.cutsOf(k), i = cuts.indexOf(after);
    return [(cuts[i - 1] ?? 0) + 1, (cuts[i + 1] ?? this.blocks[k].nOrdered) - 1];
  }

  cutEdit(k, positions) {
    const { name, upper } = this.blocks[k];
    const cuts = [...positions].sort((a, b) => a - b).map(after => upper[after - 1]);
    return { edit: "cuts", column: name, cuts };
  }

  get edits() {
    const name = k => this.blocks[k].name;
    return {
      addCut: (k, after) => this.cutEdit(k, [...this.cutsOf(k), after]),
      moveCut: (k, from, to) => this.cutEdit(k, this.cutsOf(k).map(cut => cut === from ? to : cut)),
      removeCut: (k, after) => this.cutEdit(k, this.cutsOf(k).filter(cut => cut !== after)),
      drop: k => ({ edit: "drop", column: name(k) }),
      monotone: (k, direction) => ({ edit: "monotone", column: name(k), direction: direction === "free" ? null : direction }),
      merge: (k, i, j) => this.mergeEdit(k, i, j),
      separate: k => ({ edit: "join_missing", column: name(k), to: null }),
      fix: (k, line, value) => this.fixEdit(k, line, value),
    };
  }

  mergeEdit(k, i, j) {
    const { missing, name, first } = this.blocks[k], { groups } = this.now.columns[k];
    const alone = line => missing >= 0 && groups[line].atoms.length === 1 && groups[line].atoms[0] === first + missing;
    if (alone(i)) return { edit: "join_missing", column: name, to: j };
    if (alone(j)) return { edit: "join_missing", column: name, to: i };
    return { edit: "merge", column: name, from: Math.min(i, j), to: Math.max(i, j) };
  }

  /** Return the edit that fixes the points of a line; the first of a column fixes another too. */
  fixEdit(k, line, value) {
    const { name } = this.blocks[k], { groups } = this.now.columns[k], pairs = [[line, value]];
    if (value !== null && !groups.some(group => group.fixed) && groups.length > 1) {
      const others = groups.map((group, i) => i).filter(i => i !== line);
      const mass = i => groups[i].atoms.reduce((sum, a) => sum + this.curvatures[0].mass(a), 0);
      const best = this.scale.kind === "integer"
        ? others.reduce((a, b) => groups[b].points < groups[a].points ? b : a)
        : others.reduce((a, b) => mass(b) > mass(a) ? b : a);
      pairs.push([best, groups[best].points]);
    }
    return { edit: "points", column: name, points: pairs };
  }

  // ── A row ──

  /** Prepare the fields of the form: a value of a column, then its cell, then its atom. */
  readForm() {
    this.fields = this.bins.map((bins, k) => ({ name: bins.name, kind: bins.kind, levels: bins.levels ?? [], usual: usualValue(bins), k }));
  }

  /** Return the cell of a value that was typed into the form; the empty text is missing. */
  cellOf(k, text) {
    const bins = this.bins[k];
    if (bins.kind === "text") {
      if (text === null) return 1;
      const level = text === "" ? -1 : bins.levels.indexOf(text);
      return text === "" ? 0 : level < 0 ? 1 : 2 + (bins.groups?.length ? bins.groups[level] : level);
    }
    const value = bins.kind === "date" ? Date.parse(text) / 864e5 : Number(text);
    if (text === "" || Number.isNaN(value)) return bins.missing_cell ?? 0;
    const special = bins.special_values.indexOf(value);
    if (special >= 0) return 2 + bins.cuts.length + special;
    let cell = 1;
    while (cell <= bins.cuts.length && value > bins.cuts[cell - 1]) cell++;
    return cell;
  }

  /** Return the atom of each block for the cells of a row; −1 for what no row had. */
  atomsOf(cells) {
    return this.blocks.map((block, k) => {
      if (block.kind !== "cross") return this.cellAtom[k][cells[k]];
      const [i, j] = block.columns.map((column, side) => block.merged[side][cells[column]]);
      return block.first + i * block.shape[1] + j;
    });
  }

  /** Return the mean points of a column, which cells without rows have. */
  meanPoints(k) {
    const atoms = this.cellAtom[k], weights = this.cellWeights[k], { points: of } = this.now.cards[0];
    let total = 0, moved = 0;
    atoms.forEach((a, c) => { if (a >= 0) { total += weights[c]; moved += weights[c] * of[a]; } });
    const mean = moved / (total || 1);
    return this.whole ? Math.floor(mean + 0.5) : mean;
  }

  pointsOf(cells) {
    const of = (a, k) => a < 0 ? this.meanPoints(k) : this.now.cards[0].points[a];
    return this.atomsOf(cells).reduce((sum, a, k) => sum + of(a, k), this.now.intercept);
  }

  /** Return a cell of a line of a column. */
  cellOfLine(k, { atoms }) {
    return this.cellAtom[k].findIndex(atom => atoms.includes(atom));
  }

  /** Return what total points gain if one column of a row takes another line. */
  change(cells, k, group) {
    const cell = this.cellOfLine(k, group);
    return this.pointsOf(cells.map((own, j) => j === k ? cell : own)) - this.pointsOf(cells);
  }

  /** Return about what probability of the positive class total points have. */
  probability(total) {
    const score = this.now.toScore(total);
    if (this.calibration === null) return 1 / (1 + Math.exp(-score));
    const { offset, below, above } = this.calibration, beyond = score - this.now.threshold;
    return 1 / (1 + Math.exp(-(offset + (beyond < 0 ? below : above) * beyond)));
  }
}

/** Return a value of the fullest bin of a column as text, with which the form begins. */
function usualValue({ kind, weights, levels, groups, cuts, means }) {
  const first = kind === "text" ? 2 : 1, last = kind === "text" ? weights.length : cuts.length + 2;
  let best = first;
  for (let cell = first; cell < last; cell++) if (weights[cell] > weights[best]) best = cell;
  if (kind === "text") return levels[groups ? groups.indexOf(best - 2) : best - 2] ?? "";
  const value = means[best - 1];
  if (kind === "boolean") return String(Math.round(value));
  if (kind === "date") return new Date(Math.round(value) * 864e5).toISOString().slice(0, 10);
  const inside = x => (best === 1 || x > cuts[best - 2]) && (best > cuts.length || x <= cuts[best - 1]);
  const short = [Math.round(value), Number(value.toPrecision(3))].find(inside);
  return String(short ?? value);
}

const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Return the name of some atoms of a block together: ranges, then the others. */
function lineLabel({ nOrdered, labels, cutLabels }, atoms) {
  const parts = [], ordered = atoms.filter(a => a < nOrdered);
  for (let i = 0; i < ordered.length;) {
    let last = i;
    while (last + 1 < ordered.length && ordered[last + 1] === ordered[last] + 1) last++;
    parts.push(i === last ? labels[ordered[i]] : rangeLabel(ordered[i], ordered[last], nOrdered, cutLabels));
    i = last + 1;
  }
  const loose = atoms.filter(a => a >= nOrdered).map(a => labels[a]);
  return [...parts, ...(nOrdered ? loose : loose.length ? [loose.join(", ")] : [])].join("; ");
}

function rangeLabel(first, last, nOrdered, cutLabels) {
  if (last === nOrdered - 1) return first === 0 ? "any value" : `> ${cutLabels[first - 1]}`;
  return first === 0 ? `<= ${cutLabels[last]}` : `${cutLabels[first - 1]} to ${cutLabels[last]}`;
}
