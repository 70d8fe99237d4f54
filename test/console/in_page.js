// What the tests ask of a page from within: waiting, what is shown, colours as they are seen.
"use strict";

var inPage = (() => {
  // ---- what takes long

  const seen = {longestTask: 0, tasks: 0, slowestKey: 0};
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) {
      seen.longestTask = Math.max(seen.longestTask, task.duration);
      seen.tasks += 1;
    }
  }).observe({type: "longtask", buffered: true});
  new PerformanceObserver((list) => {
    for (const event of list.getEntries()) {
      if (event.name === "keydown") seen.slowestKey = Math.max(seen.slowestKey, event.duration);
    }
  }).observe({type: "event", durationThreshold: 16, buffered: true});

  async function until(holds, milliseconds) {
    const end = performance.now() + milliseconds;
    for (;;) {
      const found = await holds();
      if (found) return found;
      if (performance.now() > end) return null;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  function middleOf(selector) {
    const found = document.querySelector(selector);
    if (!found) return null;
    found.scrollIntoView({block: "center"});
    const box = found.getBoundingClientRect();
    return box.width ? [box.left + box.width / 2, box.top + box.height / 2] : null;
  }

  // ---- what is shown

  const text = (element) => element.innerText.replace(/\s+/g, " ").trim();
  const texts = (selector, of = document) => [...of.querySelectorAll(selector)].map(text);

  function shown() {
    return {
      totals: Object.fromEntries([...document.querySelectorAll("#totals div")].map((each) =>
        [text(each.querySelector("dt")), text(each.querySelector("dd"))])),
      pools: Object.fromEntries([...document.querySelectorAll(".pool")].map((pool) =>
        [text(pool.querySelector("h3")), text(pool.querySelector("p"))])),
      tiles: [...document.querySelectorAll(".tile")].map((tile) => ({
        label: tile.getAttribute("aria-label"), classes: [...tile.classList],
        hatched: tile.querySelectorAll(".kept").length,
        blocks: tile.querySelector(".fill").style.backgroundImage.split("var(--gap)").length - 1,
      })),
      waiting: [...document.querySelectorAll("#waiting-table tbody tr")].map((row) => texts("th, td", row)),
      decisions: [...document.querySelectorAll("#timeline li")].map((item) => ({
        kind: text(item.querySelector(".kind")), what: text(item.querySelector(".what")),
      })),
    };
  }

  const isSeen = (element) => element.checkVisibility({visibilityProperty: true}) &&
    element.getBoundingClientRect().width > 1 && !element.closest(".unseen");
  const INTERACTIVE = "a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex='-1'])";

  // Who has the focus, in words that tell elements apart, and how it is shown.
  function focused() {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const style = getComputedStyle(element);
    return {
      who: nameOf(element), tag: element.tagName, ringed: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
      contrast: contrast(colourOf(style.outlineColor), backgroundOf(element.parentElement)),
    };
  }
  const nameOf = (element) => element.tagName.toLowerCase() + (element.id && "#" + element.id) + " " +
    (element.getAttribute("aria-label") || text(element) || element.value || element.name || "").slice(0, 120);

  // What Tab has to reach: of radio buttons and of tiles one each.
  function reachable() {
    const within = document.querySelector("dialog[open]") || document.body;
    return [...within.querySelectorAll(INTERACTIVE)].filter((element) =>
      isSeen(element) && !element.disabled && !element.classList.contains("tile") &&
      !(element.type === "radio" && !element.checked)).map(nameOf);
  }

  // ---- colours

  function colourOf(css) {
    const parts = css.match(/[\d.]+/g).map(Number);
    return css.startsWith("color(srgb") ? [...parts.slice(0, 3).map((part) => part * 255), parts[3] ?? 1]
      : [...parts.slice(0, 3), parts[3] ?? 1];
  }
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  function backgroundOf(element) {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.push(colourOf(getComputedStyle(at).backgroundColor));
      if (layers[layers.length - 1][3] === 1) break;
    }
    const page = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
    return layers.reverse().reduce((below, layer) => over(layer, below), page);
  }
  const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) => 0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
  function contrast(text, ground) {
    const [a, b] = [luminance(over(text, ground)), luminance(ground)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }

  // Each pair of colours that text is seen in, with an example, the poorest first.
  function textContrasts() {
    const pairs = new Map();
    const add = (element, colour, ground, words) => {
      const ratio = contrast(colour, ground);
      pairs.set([colour, ground].join(" on "), {ratio, words: words.slice(0, 60), who: nameOf(element)});
    };
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const element = walk.currentNode.parentElement;
      const words = walk.currentNode.data.trim();
      if (!words || !isSeen(element) || element.disabled || element.tagName === "NOSCRIPT") continue;
      add(element, colourOf(getComputedStyle(element).color), backgroundOf(element), words);
    }
    for (const element of document.querySelectorAll("body *")) {
      if (!isSeen(element)) continue;
      for (const part of ["::before", "::after"]) {
        const style = getComputedStyle(element, part);
        if (!/^"[^"]+"/.test(style.content)) continue;
        add(element, colourOf(style.color), over(colourOf(style.backgroundColor), backgroundOf(element)), part + style.content);
      }
      if (element.placeholder) {
        add(element, colourOf(getComputedStyle(element, "::placeholder").color), backgroundOf(element), element.placeholder);
      }
    }
    return [...pairs.values()].sort((a, b) => a.ratio - b.ratio);
  }

  // The frames of fields, against what is around them.
  const fieldContrasts = () => [...document.querySelectorAll("input[type=text], input[type=search]")].filter(isSeen)
    .map((field) => ({who: nameOf(field), ratio: contrast(colourOf(getComputedStyle(field).borderTopColor), backgroundOf(field.parentElement))}));

  // What reaches beyond an edge, but for what scrolls by itself.
  function beyondTheEdge() {
    const width = document.documentElement.clientWidth;
    const isBeyond = ({left, right}) => left < -0.5 || right > width + 0.5;
    const found = [...document.querySelectorAll("body *")].filter((element) => isSeen(element) &&
      isBeyond(element.getBoundingClientRect()) && !element.closest(".scroll, pre, #timeline, .skip"));
    return {scrolls: document.documentElement.scrollWidth > width, beyond: found.map(nameOf)};
  }

  return {beyondTheEdge, fieldContrasts, focused, middleOf, reachable, seen, shown, textContrasts, texts, until};
})();
