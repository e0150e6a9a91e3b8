// @ts-check
"use strict";
// The proof tree to walk: positions are fetched when they are opened, d3-hierarchy places them.

/** @typedef {{moves: string[], label: string, state: string, worth: string, best: boolean, children?: Step[]}} Step */

const SVG = "http://www.w3.org/2000/svg";
const ACROSS = 170, LABEL = 110, DOWN = 34, MARGIN = 20;
const SIGNS = /** @type {Record<string, string>} */ ({ proved: "●", bounded: "◐", unknown: "○" });

/** @param {{proof_state: string, bounds: number[]}} worth */
function told(worth) {
  const sign = (/** @type {number} */ score) => (score > 0 ? "+" : "") + score;
  const [lo, hi] = worth.bounds;
  if (worth.proof_state === "unknown") return "unknown";
  return lo === hi ? sign(lo) : `${sign(lo)} to ${sign(hi)}`;
}

/** @param {string} name @param {Record<string, string | number>} attributes @param {string} [text] */
function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** @param {string} base @param {string[]} moves */
const address = (base, moves) => moves.length ? `${base}?moves=${moves.map(encodeURIComponent).join(",")}` : base;

class ProofTree {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.source = place.dataset.source || "";
    this.page = place.dataset.page || "";
    /** @type {Step} */
    this.root = { moves: [], label: "start", state: "unknown", worth: "", best: false };
  }

  /** @param {Step} step */
  async open(step) {
    const found = await (await fetch(address(this.source, step.moves))).json();
    if (!step.moves.length) {
      step.state = found.worth.proof_state;
      step.worth = told(found.worth);
    }
    step.children = found.moves.map((/** @type {any} */ move) => ({
      moves: [...step.moves, move.move], label: move.move, state: move.worth.proof_state,
      worth: told(move.worth), best: move.best,
    }));
    this.draw(step);
  }

  /** @param {Step} focus */
  draw(focus) {
    // @ts-ignore: d3 is a script of its own
    const layout = d3.tree().nodeSize([DOWN, ACROSS])(d3.hierarchy(this.root));
    const nodes = layout.descendants();
    const top = Math.min(...nodes.map((/** @type {any} */ node) => node.x)) - MARGIN;
    const height = Math.max(...nodes.map((/** @type {any} */ node) => node.x)) - top + MARGIN;
    const width = (layout.height + 1) * ACROSS + MARGIN;
    const svg = element("svg", { class: "proof", viewBox: `-10 ${top} ${width} ${height}`, width, height, role: "group", "aria-label": "proof tree" });
    for (const { source, target } of layout.links()) {
      const from = source.y + LABEL, middle = (from + target.y) / 2;
      svg.append(element("path", { class: `edge ${target.data.best ? "best" : ""}`, d: `M${from} ${source.x}C${middle} ${source.x} ${middle} ${target.x} ${target.y} ${target.x}` }));
    }
    for (const node of nodes) svg.append(this.drawn(node, focus));
    this.place.replaceChildren(svg);
    /** @type {HTMLElement | null} */ (svg.querySelector("[data-focus]"))?.focus({ preventScroll: true });
    // What was opened stays in sight with its moves.
    const opened = nodes.find((/** @type {any} */ node) => node.data === focus);
    this.place.scrollLeft = opened.y - MARGIN;
  }

  /** @param {any} node @param {Step} focus */
  drawn(node, focus) {
    /** @type {Step} */
    const step = node.data;
    const group = element("g", { transform: `translate(${node.y} ${node.x})`, class: `step ${step.state}` });
    const button = element("g", { role: "button", tabindex: 0, "aria-expanded": step.children ? "true" : "false", "aria-label": `${step.label}, ${step.state} ${step.worth}${step.best ? ", best" : ""}` });
    if (step === focus) button.setAttribute("data-focus", "");
    button.append(element("rect", { x: -4, y: -14, width: 18, height: 28, class: "touch" }), element("text", { x: -2, y: 5, class: "sign" }, SIGNS[step.state]));
    const act = () => {
      if (step.children) {
        delete step.children;
        this.draw(step);
      } else {
        this.open(step);
      }
    };
    button.addEventListener("click", act);
    button.addEventListener("keydown", (/** @type {any} */ event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        act();
      }
    });
    const link = element("a", { href: address(this.page, step.moves) });
    link.append(element("text", { x: 16, y: 5, class: step.best ? "best" : "" }, `${step.label} ${step.worth}`));
    group.append(button, link);
    return group;
  }
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("proof-tree");
  if (!place) return;
  const tree = new ProofTree(place);
  tree.open(tree.root);
});
