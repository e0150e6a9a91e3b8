// @ts-check
"use strict";
// One search on a drawing of its tree. What happens comes from the server, event by event; here it
// is only shown. theatre.js has the controls.

/**
 * @typedef {{parent: number | null, move: string, position: string, ply: number, same: number}} TreeNode
 * @typedef {{kind: string, node: number, value?: number, alpha?: number, beta?: number,
 *            child?: number, cut?: number[]}} SearchEvent
 * @typedef {{nodes: TreeNode[], events: SearchEvent[], start: number, whole_window: number[],
 *            algorithm: string, best: number | null}} Performed
 * @typedef {{events: Record<string, string>, page: Record<string, string>}} Texts
 */

const STATES = ["unreachable", "reachable", "cut", "visited", "reached", "current"];
const [UNREACHABLE, REACHABLE, CUT, VISITED, REACHED, CURRENT] = STATES.keys();
const FILLS = ["--line", "--raised", "--raised", "--accent", "--text", "--bounded"];
const STROKES = ["--line", "--soft", "--bad", "--accent", "--text", "--text"];
const PLY = 64;
const ROOM = 28;
const RADIUS = 9;
/** Below this radius nodes are dots: nobody sees their shapes, and thousands are drawn at once. */
const DOT = 2;
/** Room of a node from which on its window is written below it. */
const WINDOW_ROOM = 46;

/** @param {string} text @param {Record<string, unknown>} words */
function fill(text, words) {
  return text.replace(/\{(\w+)\}/g, (_, name) => String(words[name] ?? "")).trim();
}

class Stage {
  /** @param {HTMLElement} place @param {Performed} performed @param {Texts} texts */
  constructor(place, performed, texts) {
    this.performed = performed;
    this.nodes = performed.nodes;
    this.events = performed.events;
    this.texts = texts;
    this.step = 0;
    this.folded = false;
    this.zoom = 1;
    this.x = 0;
    this.y = 0;
    /** Where the subtree of each node ends: nodes are numbered parents first. */
    this.ends = Int32Array.from(this.nodes, (_, number) => number + 1);
    for (let number = this.nodes.length - 1; number > 0; number--) {
      const parent = this.nodes[number].parent ?? 0;
      this.ends[parent] = Math.max(this.ends[parent], this.ends[number]);
    }
    this.states = new Uint8Array(this.nodes.length);
    /** @type {Map<number, number>} */
    this.values = new Map();
    /** @type {Map<number, string>} */
    this.windows = new Map();
    this.counters = { entered: 0, visited: 0, cut: 0, hits: 0 };
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", texts.page.keys);
    this.counted = document.createElement("p");
    this.counted.className = "counted";
    this.pointed = document.createElement("p");
    this.pointed.className = "pointed";
    const scene = document.createElement("div");
    scene.className = "scene";
    scene.append(this.counted, this.canvas, this.pointed);
    place.append(scene);
    this.lay();
    this.replay();
  }

  // -- what has happened ----------------------------------------------------------------------

  /** @param {number} step */
  goTo(step) {
    const wanted = Math.max(0, Math.min(this.events.length, step));
    const before = this.step;
    this.step = wanted;
    if (wanted === before + 1) this.apply(this.events[before]);
    else if (wanted !== before) this.replay();
  }

  /** Everything anew up to the step. */
  replay() {
    this.states.fill(UNREACHABLE);
    const { start } = this.performed;
    this.states.fill(REACHABLE, start, this.ends[start]);
    for (let number = this.nodes[start].parent; number !== null; number = this.nodes[number].parent) {
      this.states[number] = REACHED;
    }
    this.values.clear();
    this.windows.clear();
    this.counters = { entered: 0, visited: 0, cut: 0, hits: 0 };
    for (let at = 0; at < this.step; at++) this.apply(this.events[at]);
  }

  /** @param {SearchEvent} event */
  apply(event) {
    if (event.kind === "enter") {
      this.counters.entered += 1;
      this.counters.visited += Number(this.states[event.node] !== VISITED);
      this.counters.cut -= Number(this.states[event.node] === CUT);
      this.states[event.node] = VISITED;
      if (event.alpha !== undefined) this.windows.set(event.node, this.window(event));
    }
    this.counters.hits += Number(event.kind === "hit");
    for (const child of event.cut ?? []) this.counters.cut += this.mark(child, CUT);
    if (event.kind === "value") this.mark(event.node, UNREACHABLE);
    if (event.value !== undefined && event.kind !== "cut") this.values.set(event.node, event.value);
  }

  /** Marks what nobody visited below a node, and counts it. @param {number} node @param {number} state */
  mark(node, state) {
    let marked = 0;
    for (let number = node; number < this.ends[node]; number++) {
      if (this.states[number] !== REACHABLE) continue;
      this.states[number] = state;
      marked += 1;
    }
    return marked;
  }

  /** As in books. @param {SearchEvent} event */
  window(event) {
    const [lowest, highest] = this.performed.whole_window;
    if (event.alpha === undefined || event.beta === undefined) return "";
    return `(${event.alpha === lowest ? "-∞" : event.alpha}, ${event.beta === highest ? "∞" : event.beta})`;
  }

  /** What the last step was, in words. */
  sentence() {
    if (!this.step) return this.texts.page.nothing;
    const event = this.events[this.step - 1];
    const node = this.nodes[event.node];
    return fill(this.texts.events[event.kind], {
      move: this.nodes[event.child ?? event.node].move,
      side: node.ply % 2 ? "MIN" : "MAX",
      position: node.position,
      window: this.window(event),
      value: event.value,
      beta: event.beta,
      left: (event.cut ?? []).map((child) => this.nodes[child].move).join(" "),
    });
  }

  // -- the drawing -----------------------------------------------------------------------------

  /** Leaves side by side, parents above the middle of their children. */
  lay() {
    const { nodes, folded } = this;
    this.left = new Float32Array(nodes.length);
    this.top = new Float32Array(nodes.length);
    /** Numbers of the nodes that are drawn, parents first. @type {number[]} */
    this.shown = [];
    /** Of each node the parent that is drawn. */
    this.above = new Int32Array(nodes.length).fill(-1);
    const [first, last] = [new Float32Array(nodes.length).fill(-1), new Float32Array(nodes.length)];
    for (let number = 0; number < nodes.length; number++) {
      if (folded && nodes[number].same !== number) continue;
      this.shown.push(number);
      const parent = nodes[number].parent;
      if (parent !== null) this.above[number] = folded ? nodes[parent].same : parent;
    }
    let leaves = 0;
    const inner = new Set(this.shown.map((number) => this.above[number]));
    for (const number of this.shown) {
      this.top[number] = nodes[number].ply * PLY;
      if (!inner.has(number)) this.left[number] = leaves++ * ROOM;
    }
    for (let at = this.shown.length - 1; at >= 0; at--) {
      const number = this.shown[at];
      if (inner.has(number)) this.left[number] = (first[number] + last[number]) / 2;
      const above = this.above[number];
      if (above < 0) continue;
      if (first[above] < 0) last[above] = this.left[number];
      first[above] = this.left[number];
    }
    this.width = Math.max(ROOM, leaves * ROOM);
    this.height = Math.max(...this.shown.map((number) => this.top[number])) + PLY;
  }

  /** @param {boolean} folded */
  fold(folded) {
    this.folded = folded;
    this.lay();
    this.fit();
  }

  /** All of it in the window. */
  fit() {
    const { canvas } = this;
    const wide = canvas.parentElement?.clientWidth ?? 300;
    const most = Math.round(window.innerHeight * 0.7);
    this.zoom = Math.min(1.4, (wide - 70) / this.width, (most - 20) / this.height);
    const high = Math.max(160, Math.min(most, Math.round(this.height * this.zoom + 10)));
    canvas.width = wide * devicePixelRatio;
    canvas.height = high * devicePixelRatio;
    canvas.style.height = `${high}px`;
    this.x = 55 + (wide - 70 - this.width * this.zoom) / 2;
    this.y = 24;
    this.wide = wide;
    this.high = high;
  }

  /** @param {number} factor @param {number} [x] @param {number} [y] */
  scale(factor, x = (this.wide ?? 0) / 2, y = (this.high ?? 0) / 2) {
    this.x = x - (x - this.x) * factor;
    this.y = y - (y - this.y) * factor;
    this.zoom *= factor;
  }

  /** Tells which position is at a place. @param {number} x @param {number} y */
  point(x, y) {
    const reach = Math.max(12, RADIUS * this.zoom + 3);
    const near = (this.shown ?? []).find((number) => {
      const [left, top] = this.at(number);
      return Math.hypot(left - x, top - y) < reach;
    });
    if (near === undefined) {
      this.pointed.textContent = "";
      return;
    }
    const node = this.nodes[near];
    const value = this.values.get(near);
    const told = [node.move, node.ply % 2 ? "MIN" : "MAX", node.position, this.windows.get(near) ?? ""];
    this.pointed.textContent = `${told.filter(Boolean).join(" ")}${value === undefined ? "" : ` = ${value}`}`;
  }

  /** @param {number} number */
  at(number) {
    const [left, top] = [this.left ?? [], this.top ?? []];
    return [left[number] * this.zoom + this.x, top[number] * this.zoom + this.y];
  }

  draw() {
    const paper = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    const style = getComputedStyle(document.documentElement);
    /** @param {string} name */
    const colour = (name) => style.getPropertyValue(name).trim();
    const states = this.shownStates();
    const radius = Math.max(1.2, RADIUS * this.zoom);
    const seen = this.inView(radius);
    paper.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    paper.clearRect(0, 0, this.wide ?? 0, this.high ?? 0);
    this.edges(paper, seen, states, [colour("--plain-line"), colour("--bad")]);
    for (let state = 0; state < STATES.length; state++) {
      const own = seen.filter((number) => states[number] === state);
      if (radius < DOT && state !== CURRENT) this.dots(paper, own, radius, colour(STROKES[state]));
      else this.shapes(paper, own, state, radius, [colour(FILLS[state]), colour(STROKES[state])]);
    }
    this.labels(paper, seen, states, radius, colour);
    this.counted.textContent = fill(this.texts.page.counted, { algorithm: this.performed.algorithm, ...this.counters });
  }

  /** @param {CanvasRenderingContext2D} paper @param {number[]} numbers @param {number} radius @param {string} colour */
  dots(paper, numbers, radius, colour) {
    paper.fillStyle = colour;
    for (const number of numbers) {
      const [x, y] = this.at(number);
      paper.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    }
  }

  /** @param {CanvasRenderingContext2D} paper @param {number[]} numbers @param {number} state
   *  @param {number} radius @param {string[]} colours of the inside and of the line around */
  shapes(paper, numbers, state, radius, [inside, around]) {
    paper.beginPath();
    for (const number of numbers) shape(paper, state, this.at(number), radius);
    paper.fillStyle = inside;
    paper.strokeStyle = around;
    paper.lineWidth = state === CURRENT ? 2 : 1;
    paper.fill();
    paper.stroke();
  }

  /** The nodes in the window. @param {number} radius */
  inView(radius) {
    const [wide, high] = [(this.wide ?? 0) + radius, (this.high ?? 0) + PLY * this.zoom];
    return (this.shown ?? []).filter((number) => {
      const [x, y] = this.at(number);
      return x > -radius && x < wide && y > -radius && y < high;
    });
  }

  /** Folded nodes show the most that happened to any of the positions that they stand for. */
  shownStates() {
    const states = this.states.slice();
    if (this.step) states[this.events[this.step - 1].node] = CURRENT;
    if (!this.folded) return states;
    const most = new Uint8Array(states.length);
    for (let number = 0; number < states.length; number++) {
      const first = this.nodes[number].same;
      most[first] = Math.max(most[first], states[number]);
    }
    return most;
  }

  /** @param {CanvasRenderingContext2D} paper @param {number[]} seen @param {Uint8Array} states
   *  @param {string[]} colours of lines that are left, and of cut ones */
  edges(paper, seen, states, colours) {
    colours.forEach((colour, cut) => {
      paper.beginPath();
      /** @param {number} above @param {number} below */
      const line = (above, below) => {
        if (Number(states[below] === CUT) !== cut) return;
        paper.moveTo(.../** @type {[number, number]} */ (this.at(above)));
        paper.lineTo(.../** @type {[number, number]} */ (this.at(below)));
      };
      if (this.folded) {
        this.nodes.forEach((node, number) => {
          if (node.parent !== null && this.nodes[node.parent].same === node.parent) {
            line(node.parent, this.nodes[number].same);
          }
        });
      } else {
        for (const number of seen) if (number) line(this.above?.[number] ?? 0, number);
      }
      paper.strokeStyle = colour;
      paper.setLineDash(cut && seen.length < 3000 ? [3, 3] : []);
      paper.lineWidth = 1;
      paper.stroke();
    });
    paper.setLineDash([]);
  }

  /** @param {CanvasRenderingContext2D} paper @param {number[]} seen @param {Uint8Array} states
   *  @param {number} radius @param {(name: string) => string} colour */
  labels(paper, seen, states, radius, colour) {
    paper.textBaseline = "middle";
    paper.font = "bold 12px system-ui, sans-serif";
    paper.fillStyle = colour("--soft");
    paper.textAlign = "left";
    for (let ply = 0; ply * PLY < (this.height ?? 0); ply++) {
      paper.fillText(ply % 2 ? "MIN" : "MAX", 4, ply * PLY * this.zoom + this.y);
    }
    if (radius < 5) return;
    const [ground, text] = [colour("--ground"), colour("--text")];
    paper.textAlign = "center";
    for (const number of seen) {
      const [x, y] = this.at(number);
      const value = this.values.get(number);
      paper.font = `${Math.round(radius * 1.15)}px system-ui, sans-serif`;
      paper.fillStyle = states[number] === CUT || states[number] === REACHABLE ? text : ground;
      if (value !== undefined) paper.fillText(String(value), x, y);
      const window = this.windows.get(number);
      if (!window || ROOM * this.zoom < WINDOW_ROOM) continue;
      paper.font = "10px system-ui, sans-serif";
      paper.fillStyle = text;
      paper.fillText(window, x, y + radius * 1.4 + 6);
    }
  }
}

/** @param {CanvasRenderingContext2D} paper @param {number} state @param {number[]} at @param {number} radius */
function shape(paper, state, [x, y], radius) {
  if (state === CURRENT || state === REACHED) {
    const r = radius * 1.4;
    const corners = state === CURRENT ? [[0, -r], [r, 0], [0, r], [-r, 0]] : [[0, -r], [r, r * 0.8], [-r, r * 0.8]];
    corners.forEach(([dx, dy], number) => (number ? paper.lineTo(x + dx, y + dy) : paper.moveTo(x + dx, y + dy)));
    paper.closePath();
  } else if (state === CUT) {
    const r = radius * 0.8;
    paper.rect(x - r, y - r, 2 * r, 2 * r);
    paper.moveTo(x - r, y - r);
    paper.lineTo(x + r, y + r);
    paper.moveTo(x + r, y - r);
    paper.lineTo(x - r, y + r);
  } else {
    const r = state === UNREACHABLE ? radius * 0.4 : radius;
    paper.moveTo(x + r, y);
    paper.arc(x, y, r, 0, 2 * Math.PI);
  }
}
