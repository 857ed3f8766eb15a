"use strict";
// The page: what people see and touch. Names and levels reach it only as text, never as HTML.

const $ = id => document.getElementById(id);
let editor = null;
let chosen = null; // {column, group}: a bin that was clicked, to be merged with the next
let cutoff = null; // points of the slider; null is the cutoff of the card
let row = [];      // the cell of each column of the form

// ── Elements and texts ───────────────────────────────────────────────────────────────────────────

/** Create an element; properties that are functions listen to events. */
function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter(child => child !== null).map(String2Node));
  return element;
}

function String2Node(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

function show(id, ...children) {
  $(id).replaceChildren(...children.flat().filter(child => child !== null).map(String2Node));
}

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function count(value) {
  return Number.isInteger(value) || Math.abs(value) >= 1000 ? grouped.format(value) : value.toFixed(1);
}

function digits(value, decimals) {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

const percent = (value, decimals = 1) => `${digits(100 * value, decimals)}\u00a0%`;
const points = value => digits(value, editor.decimals);
const cutoffText = value => digits(value, editor.whole ? 1 : editor.decimals); // between two whole numbers
const signed = (value, decimals = 4) => (Number(value.toFixed(decimals)) < 0 ? "−" : "+") + digits(Math.abs(value), decimals);

function between([low, high], as) {
  return `${as(low)} to ${as(high)}`;
}

/** Say something to people who cannot see what has changed, and to the others in the bar. */
function say(text, bad = false) {
  show("say", text);
  $("say").classList.toggle("bad", bad);
}

// ── The operating point ──────────────────────────────────────────────────────────────────────────

function readNumber(id, otherwise) {
  const value = $(id).valueAsNumber;
  return Number.isFinite(value) && value >= 0 ? value : otherwise;
}

function atCutoff() {
  return cutoff === null ? editor.now.cutoff : cutoff;
}

/** Return the confusion matrix of the held-out rows at a cutoff in points. */
function confusion(at) {
  const { curve, toScore } = editor.now;
  const index = indexOf(curve, toScore(at));
  const tp = curve.tp[index], fp = curve.fp[index];
  return { tp, fp, fn: curve.positives - tp, tn: curve.negatives - fp };
}

function showOperatingPoint() {
  const at = atCutoff(), { tp, fp, fn, tn } = confusion(at), total = tp + fp + fn + tn;
  const daily = readNumber("daily", 1000), costs = [readNumber("cost-fp", 0), readNumber("cost-fn", 0)];
  const flagged = tp + fp;
  const recall = tp / (tp + fn), fpr = fp / (fp + tn), share = flagged / total;
  const precision = flagged > 0 ? tp / flagged : 1;
  const cost = (costs[0] * fp + costs[1] * fn) / total;
  const square = (costs[0] ** 2 * fp + costs[1] ** 2 * fn) / total;
  const reach = Z * Math.sqrt(Math.max(square - cost * cost, 0) / total);
  const perDay = value => {
    const number = daily * value;
    return count(number >= 1000 ? Math.round(number) : Math.round(10 * number) / 10);
  };
  const figure = (value, caption, interval) =>
    h("div", { class: "figure" }, h("span", {}, caption), h("b", {}, value), h("span", {}, interval));
  const ci = (value, n) => `95 %: ${between(wilson(value, n), percent)}`;
  show("figures",
    figure(percent(recall), "Recall (positives flagged)", ci(recall, tp + fn)),
    figure(percent(fpr), "False-positive rate", ci(fpr, fp + tn)),
    figure(percent(precision), "Precision (flagged that are positive)", ci(precision, flagged)),
    figure(perDay(share), "Alerts a day", `95 %: ${between(wilson(share, total), perDay)}`),
    figure(perDay(cost), "Cost of errors a day",
      `95 %: ${between([Math.max(cost - reach, 0), cost + reach], perDay)}`));
  const cell = (value, right) => h("td", { class: right ? "good" : "bad" }, h("b", {}, count(value)));
  const label = editor.label;
  show("confusion", h("table", {},
    h("caption", { class: "quiet" }, `${count(total)} held-out rows at this cutoff`),
    h("thead", {}, h("tr", {}, h("td"), h("th", { scope: "col" }, "flagged"),
      h("th", { scope: "col" }, "not flagged"), h("th", { scope: "col" }, "all"))),
    h("tbody", {},
      h("tr", {}, h("th", { scope: "row" }, `are ${label}`), cell(tp, true), cell(fn, false), h("td", {}, count(tp + fn))),
      h("tr", {}, h("th", { scope: "row" }, `are not ${label}`), cell(fp, false), cell(tn, true), h("td", {}, count(fp + tn))),
      h("tr", {}, h("th", { scope: "row" }, "all"), h("td", {}, count(flagged)), h("td", {}, count(fn + tn)), h("td", {}, count(total))))));
  drawScores(at);
}

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, properties, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Draw how the points of both classes are distributed, and the cutoff. */
function drawScores(at) {
  const { scores, toPoints, low, high } = editor.now, bins = 60, width = 600, height = 100;
  const counts = [new Float64Array(bins), new Float64Array(bins)], total = [0, 0];
  const span = high - low || 1;
  for (let i = 0; i < scores.length; i++) {
    const side = editor.positive[i], weight = editor.weight ? editor.weight[i] : 1;
    counts[side][Math.min(bins - 1, Math.max(0, Math.floor((toPoints(scores[i]) - low) / span * bins)))] += weight;
    total[side] += weight;
  }
  const top = Math.max(...[0, 1].map(side => Math.max(...counts[side]) / total[side]));
  const step = side => {
    let path = `M0 ${height}`;
    counts[side].forEach((value, k) => {
      const y = (height - 96 * value / total[side] / top).toFixed(1);
      path += `V${y}H${((k + 1) * width / bins).toFixed(1)}`;
    });
    return `${path}V${height}Z`;
  };
  const x = ((at - low) / span * width).toFixed(1);
  $("scores").replaceChildren(
    svg("path", { d: step(0), fill: "#0067a3", "fill-opacity": ".35", stroke: "#0067a3" }),
    svg("path", { d: step(1), fill: "#c24e00", "fill-opacity": ".35", stroke: "#c24e00" }),
    svg("path", { d: `M${x} 0V${height}`, stroke: "#1b1f24", "stroke-width": "2" }));
}

function showSlider() {
  const { low, high } = editor.now, slider = $("cutoff"), at = atCutoff();
  const step = editor.whole ? 1 : 10 ** (Math.floor(Math.log10((high - low) / 200 || 1)));
  slider.step = "any"; // first, or the ends would be rounded to steps of the card before
  slider.min = Math.floor(low / step) * step - step;
  slider.max = Math.ceil(high / step) * step + step;
  slider.value = at;
  $("cutoff-number").step = step;
  if (document.activeElement !== $("cutoff-number")) $("cutoff-number").value = digits(at, editor.whole ? 1 : 3);
  slider.setAttribute("aria-valuetext", `${cutoffText(at)} points`);
  $("cutoff-own").disabled = cutoff === null;
  show("cutoff-text", `Rows ${editor.now.higherIsPositive ? "above" : "below"} ${cutoffText(at)} points are flagged`,
    cutoff === null ? ": the cutoff of the card." : `; the cutoff of the card is ${cutoffText(editor.now.cutoff)}.`);
}

function moveCutoff(value) {
  if (!Number.isFinite(value)) return;
  cutoff = value;
  showSlider();
  showOperatingPoint();
  showRow();
}

// ── The card ─────────────────────────────────────────────────────────────────────────────────────

function hideBelow() {
  return $("hide").checked ? readNumber("hide-below", 10) : 0;
}

const views = []; // for each column: its element, what it was made for, and what brings it up to date

function showCard() {
  const every = editor.now.columns.filter(column => !column.dropped).flatMap(column => column.groups.map(group => group.points));
  const scale = { most: Math.max(1e-12, ...every.map(Math.abs)), middle: Math.min(0, ...every) < 0 ? 50 : 0 };
  const focus = document.activeElement?.dataset?.key ?? null;
  editor.blocks.forEach((_, k) => {
    const { groups, direction } = editor.now.columns[k];
    const key = JSON.stringify([groups.map(group => group.atoms), direction, hideBelow()]);
    if (views[k]?.key !== key) {
      const made = columnBlock(k);
      views[k]?.node.replaceWith(made.node);
      views[k] = { ...made, key };
    }
    views[k].update(scale);
  });
  if (focus && !document.activeElement?.dataset?.key) {
    document.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }
}

/** Place the columns side by side, each below the shortest so far. */
function arrange() {
  const sides = Math.max(1, Math.floor($("columns").clientWidth / 410));
  if ($("columns").childElementCount === sides) return;
  const boxes = Array.from({ length: sides }, () => ({ node: h("div"), height: 0 }));
  for (const k of editor.order) {
    const shortest = boxes.reduce((a, b) => b.height < a.height ? b : a);
    shortest.node.append(views[k].node);
    shortest.height += 5 + editor.start.columns[k].groups.length + (editor.blocks[k].nOrdered > 1 ? 4 : 0);
  }
  show("columns", boxes.map(box => box.node));
}

/** Return the element of a column, and a function that updates its points. */
function columnBlock(k) {
  const column = editor.blocks[k], now = editor.now.columns[k];
  if (now.dropped) {
    return { update: () => {}, node: h("div", { class: "column dropped" }, h("h3", {}, column.name),
      h("div", { class: "top" }, "No points: it is not in the card.", cutAdder(k))) };
  }
  const range = h("span", { class: "quiet" });
  const directions = column.nOrdered > 1
    ? h("label", {}, "Risk ", h("select", { "data-key": `d${k}`, change: event => direct(k, event.target.value) },
      [["free", "free"], ["increasing", "rises"], ["decreasing", "falls"]].map(([value, text]) =>
        h("option", { value, selected: (now.direction ?? "free") === value }, text)))) : null;
  const picture = column.nOrdered > 1 ? chart(k) : null, table = groupTable(k);
  const node = h("div", { class: "column", id: `column-${k}` }, h("h3", {}, column.name),
    h("div", { class: "top" }, range, directions, cutAdder(k),
      h("button", { type: "button", "data-key": `x${k}`, "aria-label": `Leave ${column.name} out of the card`, click: () => apply(editor.edits.drop(k)) }, "Leave out")),
    picture && picture.node, table.node);
  const update = scale => {
    const values = editor.now.columns[k].groups.map(group => group.points);
    range.textContent = `${points(Math.min(...values))} to ${points(Math.max(...values))} points`;
    picture?.update();
    table.update(scale);
  };
  return { node, update };
}

function cutAdder(k) {
  const free = editor.freeCuts(k);
  if (!free.length) return null;
  return h("label", {}, "New cut ", h("select", { "data-key": `c${k}`, change: event => {
    if (event.target.value !== "") apply(editor.edits.addCut(k, Number(event.target.value)));
  } }, h("option", { value: "" }, "at …"), free.map(({ cut, label }) => h("option", { value: cut }, label))));
}

/** Draw bars over the finest bins of a column, with a handle at each cut. */
function chart(k) {
  const column = editor.blocks[k], n = column.nOrdered, { groups } = editor.now.columns[k];
  const ordered = groups.filter(group => group.ordered), wide = group => group.last - group.first + 1;
  const most = Math.max(...ordered.map(group => group.rows / wide(group)));
  const box = h("div", { class: "chart", role: "group", "aria-label": `Cuts of ${column.name}` });
  const zero = h("div", { class: "zero" }), bars = ordered.map(() => h("i"));
  box.append(zero, ...ordered.map((group, i) => h("div", {
    class: "slot", title: group.label, click: () => choose(k, groups.indexOf(group)),
    style: { left: `${100 * (group.first - 1) / n}%`, width: `${100 * wide(group) / n}%` },
  }, bars[i], h("u", { style: { transform: `scaleY(${most > 0 ? group.rows / wide(group) / most : 0})` } }))));
  box.append(...ordered.slice(1).map(group => cutHandle(k, group.first - 1, box)));
  const update = () => {
    const values = editor.now.columns[k].groups.filter(group => group.ordered).map(group => group.points);
    const low = Math.min(0, ...values), span = Math.max(0, ...values) - low || 1;
    const y = value => 100 * (1 - (value - low) / span);
    zero.style.top = `${y(0)}%`;
    bars.forEach((bar, i) => {
      bar.className = side(values[i]);
      bar.style.top = `${Math.min(y(values[i]), y(0))}%`;
      bar.style.height = `max(2px, ${Math.abs(y(values[i]) - y(0))}%)`;
    });
  };
  return { node: box, update };
}

/** Return the colour of points: whether they make a row more likely to be flagged, or less. */
function side(value) {
  return (editor.now.higherIsPositive ? value : -value) > 0 ? "more" : "less";
}

/** Return the handle of the cut after an ordered cell: dragged, or moved by keys. */
function cutHandle(k, after, box) {
  const column = editor.blocks[k];
  const ends = editor.cutRange(k, after);
  const text = h("span", { class: "at" }, column.cutLabels[after - 1]);
  const handle = h("div", {
    class: "cut", role: "slider", tabindex: "0", "data-key": `h${k}-${after}`, style: { left: `${100 * after / column.nOrdered}%` },
    "aria-label": `Cut of ${column.name}`, "aria-valuemin": ends[0], "aria-valuemax": ends[1], "aria-valuenow": after,
    "aria-valuetext": column.cutLabels[after - 1],
    keydown: event => {
      const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (step) {
        const to = after + step;
        event.preventDefault();
        if (to >= ends[0] && to <= ends[1]) {
          handle.dataset.key = `h${k}-${to}`;
          apply(editor.edits.moveCut(k, after, to));
        }
      } else if (event.key === "Delete" || event.key === "Backspace") {
        event.preventDefault();
        apply(editor.edits.removeCut(k, after));
      }
    },
    pointerdown: event => {
      event.preventDefault();
      handle.setPointerCapture(event.pointerId);
      handle.classList.add("moving");
      const frame = box.getBoundingClientRect();
      let to = after, away = false;
      const move = moved => {
        const at = Math.round((moved.clientX - frame.left) / frame.width * column.nOrdered);
        to = Math.max(ends[0], Math.min(ends[1], at));
        away = moved.clientY < frame.top - 60 || moved.clientY > frame.bottom + 60;
        handle.style.left = `${100 * to / column.nOrdered}%`;
        handle.style.opacity = away ? ".25" : "1";
        text.textContent = away ? "remove" : column.cutLabels[to - 1];
      };
      const drop = () => {
        handle.removeEventListener("pointermove", move);
        handle.classList.remove("moving");
        if (away) apply(editor.edits.removeCut(k, after));
        else if (to !== after) apply(editor.edits.moveCut(k, after, to));
        else handle.focus();
      };
      handle.addEventListener("pointermove", move);
      handle.addEventListener("pointerup", drop, { once: true });
    },
  }, text);
  return handle;
}

function groupTable(k) {
  const { groups } = editor.now.columns[k], hidden = hideBelow();
  const parts = groups.map((group, g) => ({
    bar: h("i"),
    field: pointsField(k, g),
    button: h("button", { type: "button", "data-key": `b${k}-${g}`, title: group.label, click: () => choose(k, g) },
      h("span", { class: "long" }, group.label)),
  }));
  const lines = groups.map((group, g) => {
    const few = group.rows < hidden, { bar, field, button } = parts[g];
    return h("tr", {}, h("th", { scope: "row", class: "bin" }, button, separator(k, g, group)),
      h("td", {}, h("div", { class: "spark" }, bar)), h("td", {}, field),
      h("td", {}, few ? `< ${hidden}` : count(group.rows)),
      h("td", {}, few || !group.rows ? "–" : percent(group.positives / group.rows)));
  });
  const update = scale => editor.now.columns[k].groups.forEach((group, g) => {
    const share = Math.abs(group.points) / scale.most * (100 - scale.middle), { bar, field, button } = parts[g];
    bar.className = side(group.points);
    bar.style.left = `${group.points > 0 ? scale.middle : scale.middle - share}%`;
    bar.parentNode.style.backgroundPositionX = `${scale.middle}%`;
    bar.style.width = `${share}%`;
    if (field.value !== points(group.points)) field.value = points(group.points);
    field.className = group.fixed ? "points fixed" : "points";
    field.title = group.fixed ? "fixed; empty it to free it" : "type a number to fix it";
    button.setAttribute("aria-pressed", String(chosen !== null && chosen.column === k && chosen.group === g));
  });
  const node = h("table", {},
    h("colgroup", {}, h("col", { class: "bin" }), h("col"), h("col"), h("col"), h("col")),
    h("thead", {}, h("tr", {}, ["bin", "", "points", "rows", "rate"].map(text => h("th", { scope: "col" }, text)))),
    h("tbody", {}, lines));
  return { node, update };
}

/** Return a button that makes missing values a line of their own, where they have joined another. */
function separator(k, g, group) {
  const { missing, first, name } = editor.blocks[k];
  if (missing < 0 || group.atoms.length < 2 || !group.atoms.includes(first + missing)) return null;
  return h("button", { type: "button", "data-key": `s${k}-${g}`, "aria-label": `Make missing values of ${name} a line of their own`,
    click: () => apply(editor.edits.separate(k)) }, "missing apart");
}

/** Return the field for the points of a line: a number that is typed in is kept by every refit. */
function pointsField(k, g) {
  const label = editor.now.columns[k].groups[g].label;
  return h("input", { type: "text", inputmode: "decimal", "data-key": `p${k}-${g}`,
    "aria-label": `Points of ${label} of ${editor.blocks[k].name}`,
    change: event => {
      const group = editor.now.columns[k].groups[g], text = event.target.value.trim().replace("−", "-");
      if (text === "" && group.fixed) apply(editor.edits.fix(k, g, null));
      else if (text !== "" && Number.isFinite(Number(text))) apply(editor.edits.fix(k, g, Number(text)));
      else event.target.value = points(group.points);
    } });
}

/** A bin was clicked: choose it, or merge it with the one that was chosen before. */
function choose(k, g) {
  if (chosen === null || chosen.column !== k) {
    chosen = { column: k, group: g };
    say(`${editor.now.columns[k].groups[g].label} of ${editor.blocks[k].name} chosen: click a bin to merge it with.`);
    showCard();
    return;
  }
  const first = chosen.group;
  chosen = null;
  if (first === g) {
    say("Nothing chosen.");
    showCard();
    return;
  }
  apply(editor.edits.merge(k, first, g));
}

function direct(k, direction) {
  apply(editor.edits.monotone(k, direction));
}

// ── Edits, prices, saving ────────────────────────────────────────────────────────────────────────

function apply(edit) {
  const began = performance.now();
  chosen = null;
  try {
    editor.apply(edit);
  } catch (error) {
    say(error.message, true);
    showCard();
    return;
  }
  const done = editor.steps[editor.steps.length - 1];
  showAll();
  editor.milliseconds = performance.now() - began;
  say(`${done.text}: ${gapWords(done.gap)}.`);
}

function undo() {
  if (!editor.steps.length) return;
  const { text } = editor.undo();
  showAll();
  say(`Undone: ${text}.`);
}

function remove(index) {
  try {
    editor.remove(index);
    showAll();
    say("The edit was taken back.");
  } catch (error) {
    say(`It cannot be taken back alone: ${error.message}`, true);
  }
}

/** Return a gap in words: better and worse only where the interval excludes zero. */
function gapWords({ mean, low, high }) {
  if (mean === 0 && low === 0 && high === 0) return "no change on held-out rows";
  const ends = `${signed(mean)} (${signed(low)} to ${signed(high)})`;
  return low > 0 ? `better by ${ends}` : high < 0 ? `worse: ${ends}` : `no clear difference: ${ends}`;
}

function gapNode(gap) {
  return h("span", { class: gap.low > 0 ? "good" : gap.high < 0 ? "bad" : "quiet" }, gapWords(gap));
}

function showEdits() {
  const { now, start, steps, metric } = editor, decimals = value => digits(value, 4);
  const items = steps.map((step, k) => h("li", {}, step.text, h("br"), gapNode(step.gap), " ",
    h("button", { type: "button", class: "link", "data-key": `u${k}`, "aria-label": `Take back: ${step.text}`, click: () => remove(k) }, "take back")));
  show("list", items.length ? h("ol", {}, items) : h("p", { class: "quiet" }, "No edits yet."));
  const all = editor.gap(now, start);
  show("total", h("table", {}, h("thead", {}, h("tr", {}, h("td"), h("th", { scope: "col" }, "before"), h("th", { scope: "col" }, "now"))),
    h("tbody", {}, [
      [metric.label, decimals(start.expected), decimals(now.expected)],
      ["95 % interval", between(start.interval, decimals), between(now.interval, decimals)],
      ["on held-out rows", decimals(start.value), decimals(now.value)],
      ["lines of the card", editor.countLines(start), editor.countLines(now)],
    ].map(([name, ...values]) => h("tr", {}, h("th", { scope: "row" }, name), values.map(value => h("td", {}, value))))),
  ), steps.length ? h("p", {}, "All edits together: ", gapNode(all)) : null);
  show("value", `${metric.label} `, h("b", {}, decimals(now.expected)), h("span", { class: "quiet" }, ` (${between(now.interval, decimals)}) expected on new rows`));
  $("undo").disabled = !steps.length;
  show("edited", steps.length === 1 ? "1 edit" : `${steps.length} edits`);
}

function save() {
  const blob = new Blob([editor.saved()], { type: "application/json" });
  const link = h("a", { href: URL.createObjectURL(blob), download: "edits.json" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  say("Saved as edits.json.");
}

// ── A row ────────────────────────────────────────────────────────────────────────────────────────

const OTHER = "\u0000"; // no level of a text can be this

function form() {
  row = editor.fields.map(({ usual, k }) => editor.cellOf(k, usual));
  show("form", editor.fields.map(field => h("label", {}, field.name, input(field))));
}

function input({ kind, levels, usual, k }) {
  const changed = event => {
    row[k] = editor.cellOf(k, event.target.value === OTHER ? null : event.target.value);
    showRow();
  };
  const options = kind === "text" ? [...levels.map(level => [level, level]), [OTHER, "another value"]]
    : [["0", "no"], ["1", "yes"]];
  if (kind === "text" || kind === "boolean") {
    return h("select", { change: changed }, h("option", { value: "" }, "missing"),
      options.map(([value, text]) => h("option", { value, selected: value === usual }, text)));
  }
  return h("input", { type: kind === "date" ? "date" : "number", step: "any", value: usual, placeholder: "missing", input: changed });
}

/** Return the points of each column for the row of the form, the costliest first. */
function rowReasons() {
  const { now } = editor, riskier = now.higherIsPositive ? 1 : -1;
  return editor.atomsOf(row).map((atom, k) => {
    const { groups, dropped } = now.columns[k], known = groups.find(group => group.atoms.includes(atom));
    if (dropped || (!known && atom >= 0)) return null;
    const mine = known ?? { label: "never seen", points: editor.meanPoints(k) };
    const best = groups.reduce((a, b) => riskier * b.points < riskier * a.points ? b : a);
    return { k, name: editor.blocks[k].name, mine, lost: riskier * (mine.points - best.points) };
  }).filter(reason => reason !== null).sort((a, b) => b.lost - a.lost);
}

function showRow() {
  const { now } = editor, total = editor.pointsOf(row), at = atCutoff();
  const flagged = points => now.higherIsPositive ? points > at : points < at;
  const away = `${cutoffText(Math.abs(total - at))} points ${total > at ? "above" : "below"} the cutoff of ${cutoffText(at)}`;
  show("answer", h("b", {}, `${points(total)} points: ${flagged(total) ? "flagged" : "not flagged"}`),
    `, ${away}. Probability of ${editor.label}: about ${percent(editor.probability(total))}.`);
  const reasons = rowReasons(), title = text => h("th", { scope: "col" }, text);
  show("reasons", h("table", {}, h("thead", {}, h("tr", {}, ["column", "bin", "points", "more than its safest bin"].map(title))),
    h("tbody", {}, reasons.map(({ name, mine, lost }) => h("tr", {}, h("th", { scope: "row" }, name),
      h("td", {}, mine.label), h("td", {}, points(mine.points)), h("td", {}, points(lost)))))));
  show("changes", changesNode(reasons, total, flagged));
}

/** Say what other bins would change the decision: of one column, or of the fewest together. */
function changesNode(reasons, total, flagged) {
  const columns = reasons.filter(({ k }) => editor.blocks[k].kind !== "cross");
  const changes = columns.flatMap(({ k, name, mine }) => editor.now.columns[k].groups.filter(group => group !== mine)
    .map(group => ({ k, name, group, change: editor.change(row, k, group) })));
  const text = ({ name, group, change }) => `${name}: ${group.label} (${signed(change, editor.decimals)} points)`;
  const single = changes.filter(({ change }) => flagged(total + change) !== flagged(total));
  if (single.length) {
    single.sort((a, b) => Math.abs(a.change) - Math.abs(b.change));
    return h("ul", {}, single.slice(0, 8).map(change => h("li", {}, text(change))));
  }
  const wanted = flagged(Infinity) === flagged(total) ? -1 : 1; // which way points have to go
  const best = columns.map(({ k }) => changes.filter(change => change.k === k).reduce((a, b) => wanted * b.change > wanted * a.change ? b : a));
  best.sort((a, b) => wanted * (b.change - a.change));
  const cells = [...row], taken = [];
  for (const change of best) {
    if (wanted * change.change <= 0) break;
    cells[change.k] = editor.cellOfLine(change.k, change.group);
    taken.push(change);
    if (flagged(editor.pointsOf(cells)) !== flagged(total)) {
      return h("div", {}, h("p", {}, "No other bin of a single column, but these together:"), h("ul", {}, taken.map(each => h("li", {}, text(each)))));
    }
  }
  return h("p", { class: "quiet" }, "No other bins would.");
}

// ── The whole page ───────────────────────────────────────────────────────────────────────────────

function showAll() {
  showSlider();
  showOperatingPoint();
  showCard();
  showEdits();
  showRow();
}

function listen() {
  new ResizeObserver(arrange).observe($("columns"));
  $("cutoff").addEventListener("input", event => moveCutoff(event.target.valueAsNumber));
  $("cutoff-number").addEventListener("input", event => moveCutoff(event.target.valueAsNumber));
  $("cutoff-own").addEventListener("click", () => { cutoff = null; showSlider(); showOperatingPoint(); showRow(); });
  for (const id of ["daily", "cost-fp", "cost-fn"]) $(id).addEventListener("input", showOperatingPoint);
  for (const id of ["hide", "hide-below"]) $(id).addEventListener("input", showCard);
  $("undo").addEventListener("click", undo);
  for (const button of document.querySelectorAll("[data-save]")) button.addEventListener("click", save);
  document.addEventListener("keydown", event => {
    if (event.key === "Escape" && chosen !== null) { chosen = null; showCard(); say("Nothing chosen."); }
    if (event.key === "z" && (event.ctrlKey || event.metaKey) && !/INPUT|SELECT/.test(event.target.tagName)) { event.preventDefault(); undo(); }
  });
}

async function begin() {
  editor = await Editor.read(JSON.parse($("state").textContent));
  listen();
  form();
  showAll();
  arrange();
  document.body.dataset.ready = "yes";
}

begin().catch(error => {
  say(`This page cannot be shown: ${error.message}`, true);
  throw error;
});
