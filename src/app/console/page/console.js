// The console's page. What it shows comes from `events` (server-sent, docs/asking.md): a whole
// picture first, then what changes. Names and messages are other people's text: they become text
// nodes and nothing else, and a style is only ever made of numbers.
"use strict";

const byId = (id) => document.getElementById(id);
const MOST_DECISIONS = 400;
const COMPACT_FROM = 120;      // nodes: beyond, tiles are small and without words
const SILENCE = 45000;         // ms: the stream speaks every 15 s
const SAY_EVERY = 5000;        // ms between two announcements
const CLOSED_TO_PODS = new Set(["Fenced", "Draining"]);

const nodes = new Map();       // by name: {data, item, tile, row}
const pools = new Map();       // by name: {section, text, list}
let decisions = [];            // oldest first
let now = null;                // the program's time, not this machine's
let order = {key: "name", down: false};

// ---- text

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === false) continue;
    made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function money(amount) {
  if (amount === undefined || amount === null) return "?";
  return "$" + amount.toFixed(Math.abs(amount) < 100 ? 4 : 2);
}

function span(since) {
  if (!since || !now) return "";
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1000));
  if (seconds < 120) return seconds + "s";
  if (seconds < 7200) return Math.floor(seconds / 60) + "m";
  if (seconds < 172800) return Math.floor(seconds / 3600) + "h";
  return Math.floor(seconds / 86400) + "d";
}

const clock = (time) => new Date(time).toISOString().slice(11, 19);
const count = (amount, thing) => amount + " " + thing + (amount === 1 ? "" : "s");
const fill = (asked, there) => (there > 0 ? asked / there : 0);
const percent = (part) => Math.round(part * 100) + "%";

// Whatever `change` moves in the page, the focus stays where it is: what is moved loses it.
function keepFocus(change) {
  const focused = document.activeElement;
  change();
  if (focused !== document.activeElement && focused.isConnected) focused.focus({preventScroll: true});
}

function askButton(kind, name, text) {
  const button = element("button", {type: "button", class: "ask"}, text || name);
  button.addEventListener("click", () => why(kind, name));
  return button;
}

// The cells after the first.
function putTexts(row, texts) {
  texts.forEach((text, i) => {
    const cell = row.children[i + 1];
    if (cell.textContent !== String(text)) cell.textContent = text;
  });
}

// Only what is not at its place is moved.
function putInOrder(parent, children) {
  children.forEach((child, i) => {
    if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] || null);
  });
}

// ---- nodes

// One of the six colours of the style sheet, by namespace.
function colourOf(pod) {
  let sum = 0;
  for (const letter of pod.slice(0, pod.indexOf("/"))) sum = (sum * 31 + letter.codePointAt(0)) % 997;
  return "var(--p" + (sum % 6) + ")";
}

// Paints pods as blocks side by side, each as wide as its share, and the kept room hatched.
function paint(bar, node) {
  let at = 0;
  const stops = [];
  for (const [pod, share] of node.pods) {
    const end = Math.min(at + share / 10, 100);
    const colour = pod === null ? "var(--hatch)" : colourOf(pod);
    const edge = Math.max(at, end - Math.min(0.8, (end - at) / 4));
    stops.push(`${colour} ${at.toFixed(2)}% ${edge.toFixed(2)}%`, `var(--gap) ${edge.toFixed(2)}% ${end.toFixed(2)}%`);
    at = end;
  }
  stops.push(`transparent ${at.toFixed(2)}% 100%`);
  bar.style.backgroundImage = `linear-gradient(to right, ${stops.join(", ")})`;
  bar.replaceChildren();
  if (node.kept) {
    const kept = element("span", {class: "kept"});
    const width = Math.max(3, Math.min(node.keptShare / 10, 100 - at));
    kept.style.left = Math.min(at, 97).toFixed(2) + "%";
    kept.style.width = width.toFixed(2) + "%";
    bar.append(kept);
  }
}

function describe(node) {
  const words = [node.name, node.state, node.type, count(node.podCount, "pod"),
    "CPU " + percent(fill(node.cpuAsked, node.cpu)), "memory " + percent(fill(node.memoryAsked, node.memory))];
  if (node.kept) words.push("room kept for " + count(node.kept, "pod"));
  words.push(node.price === undefined ? "price not known" : money(node.price) + " an hour");
  return words.filter(Boolean).join(", ");
}

function stateClass(node) {
  if (CLOSED_TO_PODS.has(node.state)) return "tile fenced";
  if (node.state === "Coming" || node.state === "Starting") return "tile coming";
  return node.state === "NotReady" ? "tile notready" : "tile";
}

function drawTile(entry) {
  const node = entry.data;
  if (!entry.tile) {
    entry.tile = element("button", {type: "button", tabindex: "-1"}, element("b"), element("small", {}, element("span"), element("span")), element("span", {class: "fill"}));
    entry.tile.addEventListener("click", () => why("node", entry.data.name));
    entry.item = element("li", {}, entry.tile);
  }
  const [name, small, bar] = entry.tile.children;
  const words = describe(node);
  entry.tile.className = stateClass(node);
  entry.tile.setAttribute("aria-label", words);
  entry.tile.title = words;
  // The end of a name is what tells nodes apart.
  name.textContent = node.name.length > 16 ? "\u2026" + node.name.slice(-15) : node.name;
  small.children[0].textContent = node.state === "Ready" ? node.type : node.state;
  small.children[1].textContent = node.podCount + (node.kept ? "+" + node.kept : "");
  const size = Math.max(0, Math.log2(Math.max(node.cpu, 1)));
  entry.tile.style.width = Math.round(compact() ? 34 + 9 * size : 108 + 16 * size) + "px";
  paint(bar, node);
}

function drawRow(entry) {
  const node = entry.data;
  entry.row = entry.row || element("tr", {}, ...Array.from({length: 11}, (_, i) => element(i ? "td" : "th", i ? {class: i > 4 ? "number" : undefined} : {scope: "row"})));
  if (!entry.row.children[0].firstChild) entry.row.children[0].append(askButton("node", node.name));
  putTexts(entry.row, [node.pool || "(none)", node.type, node.zone, node.state, node.podCount, node.kept || "",
    percent(fill(node.cpuAsked, node.cpu)), percent(fill(node.memoryAsked, node.memory)),
    money(node.price), span(node.created)]);
}

const compact = () => nodes.size > COMPACT_FROM;
const showsTable = () => document.querySelector("input[name=view]:checked").value === "table";

function poolOf(name) {
  let pool = pools.get(name);
  if (!pool) {
    const title = element("h3", {}, name ? askButton("nodepool", name, "NodePool " + name) : "Without a NodePool");
    pool = {text: element("p"), list: element("ul", {role: "list", "aria-describedby": "tiles-help", "aria-label": name ? "Nodes of NodePool " + name : "Nodes without a NodePool"})};
    pool.section = element("div", {class: "pool"}, title, pool.text, pool.list);
    pools.set(name, pool);
  }
  return pool;
}

function drawPools(names) {
  const members = new Map(names.map((name) => [name, []]));
  for (const entry of nodes.values()) {
    const name = entry.data.pool;
    if (!members.has(name)) members.set(name, []);
    members.get(name).push(entry);
  }
  for (const [name, pool] of pools) {
    if (!members.has(name)) {
      pool.section.remove();
      pools.delete(name);
    }
  }
  const sorted = [...members.keys()].sort((a, b) => (a === "") - (b === "") || (a < b ? -1 : 1));
  putInOrder(byId("tiles"), sorted.map((name) => poolOf(name).section));
  sorted.forEach((name) => {
    const pool = poolOf(name);
    const entries = members.get(name).sort((a, b) => (a.data.name < b.data.name ? -1 : 1));
    const price = entries.reduce((sum, entry) => sum + (entry.data.price || 0), 0);
    pool.text.textContent = count(entries.length, "node") + ", " + money(price) + " an hour";
    putInOrder(pool.list, entries.map((entry) => entry.item));
  });
}

const SORTED_BY = {
  cpuFill: (node) => fill(node.cpuAsked, node.cpu), memoryFill: (node) => fill(node.memoryAsked, node.memory),
  price: (node) => node.price || 0, kept: (node) => node.kept || 0, podCount: (node) => node.podCount,
  created: (node) => -Date.parse(node.created || 0),
};

function drawTable() {
  const of = SORTED_BY[order.key] || ((node) => node[order.key]);
  const turn = order.down ? -1 : 1;
  const entries = [...nodes.values()].sort((a, b) => {
    const [x, y] = [of(a.data), of(b.data)];
    return x === y ? (a.data.name < b.data.name ? -1 : 1) : (x < y ? -turn : turn);
  });
  entries.forEach(drawRow);
  putInOrder(byId("node-table").querySelector("tbody"), entries.map((entry) => entry.row));
}

function applyFind() {
  const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const entry of nodes.values()) {
    const node = entry.data;
    const text = [node.name, node.pool, node.type, node.zone, node.capacity, node.state].join(" ").toLowerCase();
    const hidden = !words.every((word) => text.includes(word));
    entry.item.hidden = hidden;
    if (entry.row) entry.row.hidden = hidden;
  }
  giveTabStop();
}

const shownTiles = () => [...document.querySelectorAll("#tiles li:not([hidden]) .tile")];

// One tile at a time is reached by Tab; arrow keys go on from there.
function giveTabStop(wanted) {
  const shown = shownTiles();
  const old = shown.find((tile) => tile.tabIndex === 0);
  const stop = wanted || old || shown[0];
  for (const tile of shown) {
    if (tile !== stop && tile.tabIndex === 0) tile.tabIndex = -1;
  }
  if (stop) stop.tabIndex = 0;
}

function moveFocus(event) {
  const tile = event.target.closest(".tile");
  const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: "down", ArrowUp: "up", Home: "first", End: "last"}[event.key];
  if (!tile || step === undefined) return;
  event.preventDefault();
  const shown = shownTiles();
  const at = shown.indexOf(tile);
  let next = shown[at + step];
  if (step === "first") next = shown[0];
  if (step === "last") next = shown[shown.length - 1];
  if (step === "down" || step === "up") {
    // The nearest tile of the next line.
    const here = tile.getBoundingClientRect();
    const others = (step === "down" ? shown.slice(at + 1) : shown.slice(0, at).reverse());
    const line = others.find((other) => Math.abs(other.getBoundingClientRect().top - here.top) > 4);
    const top = line && line.getBoundingClientRect().top;
    next = line && others.filter((other) => Math.abs(other.getBoundingClientRect().top - top) <= 4)
      .reduce((best, other) => (Math.abs(other.getBoundingClientRect().left - here.left) < Math.abs(best.getBoundingClientRect().left - here.left) ? other : best), line);
  }
  if (next) {
    giveTabStop(next);
    next.focus();
  }
}

// ---- totals, pods that wait, decisions

function showTotals(totals) {
  const put = (id, text, note) => byId(id).replaceChildren(text, ...(note ? [" ", element("small", {}, note)] : []));
  put("total-price", money(totals.price), "an hour" + (totals.withoutPrice ? ", " + totals.withoutPrice + " without a price" : ""));
  put("total-nodes", totals.nodes);
  put("total-pods", totals.pods);
  put("total-kept", totals.kept);
  put("total-waiting", totals.waiting);
  put("total-saved", money(totals.saved), "an hour");
}

let waiting = [];
const waitingRows = new Map();  // by pod
// Rows stay as long as their pod waits, so that neither the focus nor what is selected is lost.
function waitingRow(row) {
  let drawn = waitingRows.get(row.pod);
  if (!drawn) {
    drawn = element("tr", {}, element("th", {scope: "row"}, askButton("pod", row.pod)),
      element("td", {class: "number"}), element("td", {class: "number"}), element("td"));
    waitingRows.set(row.pod, drawn);
  }
  putTexts(drawn, [row.pods, span(row.since), row.why]);
  return drawn;
}

function drawWaiting() {
  const there = new Set(waiting.map((row) => row.pod));
  for (const [pod, drawn] of waitingRows) {
    if (there.has(pod)) continue;
    drawn.remove();
    waitingRows.delete(pod);
  }
  putInOrder(byId("waiting-table").querySelector("tbody"), waiting.map(waitingRow));
  byId("waiting-table").hidden = waiting.length === 0;
  byId("no-waiting").hidden = waiting.length > 0;
}

const KINDS = {purchase: "Bought", removal: "Removed", "taken-back": "Taken back", refusal: "Refused", plan: "Plan", kept: "Stays"};

function subject(about) {
  if (about.kind === "Pod") return askButton("pod", about.namespace + "/" + about.name);
  if (about.kind === "Node" || about.kind === "NodeClaim") return askButton("node", about.name);
  return about.kind === "NodePool" ? askButton("nodepool", about.name) : element("span", {}, about.kind + " " + about.name);
}

function decisionItem(decision) {
  const what = element("div", {class: "what"}, decision.message);
  if (decision.remedy) what.append(element("div", {}, "Change: " + decision.remedy));
  if (decision.about.length) what.append(element("div", {class: "about"}, "Why:", ...decision.about.map(subject)));
  const amount = decision.saved !== undefined ? "saves " + money(decision.saved) + "/h"
    : decision.price !== undefined ? money(decision.price) + "/h" : "";
  return element("li", {}, element("time", {datetime: decision.time, title: decision.time}, clock(decision.time)),
    element("span", {class: "kind " + (KINDS[decision.kind] ? decision.kind : "")}, KINDS[decision.kind] || decision.kind),
    what, element("span", {class: "money"}, amount));
}

const shownKinds = () => new Set([...document.querySelectorAll("#kinds input:checked")].map((box) => box.value));

function drawDecisions() {
  const kinds = shownKinds();
  byId("timeline").replaceChildren(...decisions.filter((each) => kinds.has(each.kind)).reverse().map(decisionItem));
  byId("no-decisions").hidden = byId("timeline").children.length > 0;
}

function addDecisions(more) {
  const kinds = shownKinds();
  decisions = decisions.concat(more).slice(-MOST_DECISIONS);
  const timeline = byId("timeline");
  timeline.prepend(...more.filter((each) => kinds.has(each.kind)).reverse().map(decisionItem));
  while (timeline.children.length > MOST_DECISIONS) timeline.lastElementChild.remove();
  byId("no-decisions").hidden = timeline.children.length > 0;
}

// ---- the stream

let poolNames = [];
function takeNodes(changed, gone) {
  const wasCompact = byId("tiles").classList.contains("compact");
  const focused = document.activeElement;
  const place = shownTiles().indexOf(focused);
  for (const name of gone) {
    const entry = nodes.get(name);
    if (!entry) continue;
    entry.item.remove();
    if (entry.row) entry.row.remove();
    nodes.delete(name);
  }
  for (const data of changed) {
    const entry = nodes.get(data.name) || {};
    entry.data = data;
    nodes.set(data.name, entry);
  }
  byId("tiles").classList.toggle("compact", compact());
  const redraw = compact() !== wasCompact ? [...nodes.values()] : changed.map((data) => nodes.get(data.name));
  redraw.forEach(drawTile);
  drawPools(poolNames);
  if (showsTable()) drawTable();
  byId("no-nodes").hidden = nodes.size > 0;
  applyFind();
  if (place >= 0 && !focused.isConnected) focusNear(place);
}

// The tile that had the focus is gone: the one that now stands in its place gets it. That is known
// once all are drawn, since the only tile may go in the very picture in which others come.
function focusNear(place) {
  const tiles = shownTiles();
  const next = tiles[Math.min(place, tiles.length - 1)];
  if (next) {
    giveTabStop(next);
    next.focus({preventScroll: true});
  }
}

// A stream that begins anew repeats what is there already.
function newDecisions(all) {
  const last = decisions[decisions.length - 1];
  const at = last ? all.findIndex((each) => each.number === last.number && each.time === last.time) : -1;
  return at < 0 ? null : all.slice(at + 1);
}

function take(picture, whole) {
  keepFocus(() => show(picture, whole));
}

function show(picture, whole) {
  now = Date.parse(picture.time);
  if (whole) {
    const there = new Set(picture.nodes.map((node) => node.name));
    picture.gone = [...nodes.keys()].filter((name) => !there.has(name));
  }
  if (picture.totals) {
    showTotals(picture.totals);
    poolNames = picture.totals.pools;
  }
  if (picture.nodes || picture.gone || picture.totals) takeNodes(picture.nodes || [], picture.gone || []);
  if (picture.waiting) waiting = picture.waiting;
  drawWaiting();
  const more = whole ? newDecisions(picture.decisions) : picture.decisions || [];
  if (more) {
    addDecisions(more);
    say(more);
  } else {
    decisions = picture.decisions;
    drawDecisions();
  }
  setLive(true, "Live, " + new Date(now).toISOString().slice(0, 19).replace("T", " ") + " UTC");
}

let heard = 0;
let liveText = "";
function setLive(fresh, text) {
  byId("live").className = fresh ? "fresh" : "stale";
  byId("live-text").textContent = text;
  // The clock is not news: it is shown, and read out only when it begins or stops.
  const status = fresh ? "Live" : text;
  if (status !== liveText) byId("said").textContent = status;
  liveText = status;
  if (fresh) heard = Date.now();
}

let toSay = [];
let sayTimer = null;
function say(more) {
  const kinds = shownKinds();
  toSay.push(...more.filter((each) => kinds.has(each.kind)));
  if (!toSay.length || sayTimer) return;
  sayTimer = setTimeout(() => {
    const last = toSay[toSay.length - 1];
    byId("said").textContent = (toSay.length > 1 ? toSay.length + " decisions. The last: " : "") + last.message;
    toSay = [];
    sayTimer = null;
  }, SAY_EVERY);
}

let source = null;
let wait = 1000;
function connect() {
  source = new EventSource("events");
  source.addEventListener("whole", (event) => {
    wait = 1000;
    take(JSON.parse(event.data), true);
  });
  source.addEventListener("changes", (event) => take(JSON.parse(event.data), false));
  source.addEventListener("beat", (event) => take(JSON.parse(event.data), false));
  source.addEventListener("error", reconnect);
}

// The reason is in the answer to a plain question; a stream does not tell it.
async function reconnect() {
  source.close();
  let reason = "the connection ended";
  try {
    const answer = await fetch("../decisions?after=9000000000000000000");
    if (!answer.ok) reason = (await answer.text()).trim();
  } catch {
    reason = "`millwright` on this machine does not answer; is it still running?";
  }
  setLive(false, "Not live: " + reason);
  setTimeout(connect, wait);
  wait = Math.min(wait * 2, 10000);
}

setInterval(() => {
  if (heard && Date.now() - heard > SILENCE && source.readyState === EventSource.OPEN) reconnect();
}, 5000);

// ---- why, and what if

let openedBy = null;
let asked = 0;
async function why(kind, name) {
  const question = ++asked;
  const body = byId("answer-body");
  byId("answer-title").textContent = {pod: "Pod ", node: "Node ", nodepool: "NodePool "}[kind] + name;
  body.replaceChildren(element("p", {class: "nothing"}, "Asking why"));
  if (!byId("answer").open) {
    openedBy = document.activeElement;
    byId("answer").showModal();
  }
  byId("answer-title").focus();
  const path = kind === "pod" ? name.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(name);
  let parts;
  try {
    const answer = await fetch("../why/" + kind + "/" + path);
    const text = await answer.text();
    parts = answer.ok || answer.status === 404 ? answerParts(JSON.parse(text)) : [element("p", {class: "problem"}, text)];
  } catch (error) {
    parts = [element("p", {class: "problem"}, "No answer: " + error.message)];
  }
  if (question !== asked) return;
  const entry = kind === "node" && nodes.get(name);
  body.replaceChildren(...(entry ? nodeParts(entry.data) : []), ...parts, ...whatIfParts(kind, name, entry));
}

function answerParts(answer) {
  const facts = element("dl", {class: "facts"});
  for (const fact of answer.facts) facts.append(element("dt", {}, fact.about), element("dd", {}, fact.text));
  const past = element("ul", {class: "said"}, ...answer.decisions.slice(0, 20).map((each) => element("li", {},
    element("time", {datetime: each.time}, each.time.slice(0, 19).replace("T", " ")), " " + (KINDS[each.decision] || each.decision) + ": " + each.message)));
  return [element("p", {class: "headline"}, answer.answer), answer.facts.length ? facts : null,
    answer.decisions.length ? element("h3", {}, "Decided, newest first") : null, answer.decisions.length ? past : null].filter(Boolean);
}

function nodeParts(node) {
  const bars = element("div", {class: "bars", role: "img", "aria-label": describe(node)});
  paint(bars, node);
  const facts = element("dl", {class: "facts"});
  const add = (about, text) => text && facts.append(element("dt", {}, about), element("dd", {}, text));
  add("State", node.state);
  add("NodePool", node.pool);
  add("Machine", [node.type, node.zone, node.capacity].filter(Boolean).join(", "));
  add("Price", money(node.price) + " an hour");
  add("Age", span(node.created));
  add("Asked for", `CPU ${percent(fill(node.cpuAsked, node.cpu))}, memory ${percent(fill(node.memoryAsked, node.memory))}`);
  for (const whom of node.keptFor || []) add("Room kept", "for " + whom);
  const pods = element("ul", {class: "pods"}, ...node.pods.map(([pod, share, others]) => element("li", {},
    pod === null ? "and " + count(others, "pod") + " more" : askButton("pod", pod), " " + percent(share / 1000))));
  return [bars, facts, element("h3", {}, count(node.podCount, "pod")), pods, element("h3", {}, "Why")];
}

function whatIfParts(kind, name, entry) {
  const change = kind === "node" ? "drain " + name : null;
  if (!change || (entry && entry.data.state === "Coming")) return [];
  const answer = element("div", {role: "status"});
  const button = element("button", {type: "button"}, "What if it were drained?");
  button.addEventListener("click", () => whatIf(change, answer, button));
  return [element("h3", {}, "What if"), button, answer];
}

async function whatIf(change, into, button) {
  // A button that is really disabled loses the focus.
  if (button.ariaDisabled === "true") return;
  button.ariaDisabled = "true";
  into.replaceChildren(element("p", {class: "nothing"}, "Looking ahead; with hundreds of nodes this takes some seconds."));
  try {
    const answer = await fetch("../what-if?change=" + encodeURIComponent(change));
    const text = await answer.text();
    into.replaceChildren(answer.ok ? element("pre", {tabindex: "0", "aria-label": "What would happen"}, text)
      : element("p", {class: "problem"}, text));
  } catch (error) {
    into.replaceChildren(element("p", {class: "problem"}, "No answer: " + error.message));
  }
  button.ariaDisabled = null;
}

// ---- the controls

byId("tiles").addEventListener("keydown", moveFocus);
byId("tiles").addEventListener("focusin", (event) => event.target.classList.contains("tile") && giveTabStop(event.target));
byId("find").addEventListener("input", applyFind);
byId("kinds").addEventListener("change", drawDecisions);
byId("close").addEventListener("click", () => byId("answer").close());
byId("answer").addEventListener("click", (event) => event.target === byId("answer") && byId("answer").close());
byId("answer").addEventListener("close", () => openedBy && openedBy.isConnected && openedBy.focus());
byId("what-if-form").addEventListener("submit", (event) => {
  event.preventDefault();
  whatIf(byId("change").value, byId("what-if-answer"), event.target.querySelector("button"));
});
for (const radio of document.querySelectorAll("input[name=view]")) {
  radio.addEventListener("change", () => {
    byId("tiles").hidden = showsTable();
    byId("legend").hidden = showsTable();
    byId("node-table").hidden = !showsTable();
    if (showsTable()) drawTable();
    applyFind();
  });
}
for (const head of document.querySelectorAll("#node-table th[data-key]")) {
  head.querySelector("button").addEventListener("click", () => {
    order = {key: head.dataset.key, down: order.key === head.dataset.key ? !order.down : head.classList.contains("number")};
    for (const other of document.querySelectorAll("#node-table th[data-key]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
    drawTable();
  });
}
connect();
