// @ts-check
"use strict";
// Plays the events of a search on a drawing of its tree. What happens comes from the server,
// event by event; here it is only shown.

/**
 * @typedef {{parent: number | null, move: string, position: string, ply: number, same: number}} TreeNode
 * @typedef {{kind: string, node: number, value?: number, alpha?: number, beta?: number,
 *            child?: number, cut?: number[]}} SearchEvent
 * @typedef {{nodes: TreeNode[], events: SearchEvent[], start: number, whole_window: number[],
 *            best: number | null, places: number[][]}} Performed
 */

const STATES = ["unreachable", "reachable", "cut", "visited", "reached", "current"];
const [UNREACHABLE, REACHABLE, CUT, VISITED, REACHED, CURRENT] = STATES.keys();
const PLY = 64;
const STEP = 28;
const RADIUS = 9;

/** @param {string} name */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

class Stage {
  /** @param {HTMLElement} place @param {Performed} performed */
  constructor(place, performed) {
    this.place = place;
    this.nodes = performed.nodes;
    this.events = performed.events;
    this.performed = performed;
    this.sentences = JSON.parse(place.dataset.sentences ?? "{}");
    this.step = Number(place.dataset.step ?? 0);
    this.folded = false;
    this.zoom = 0;
    this.timer = 0;
    /** Where the subtree of each node ends: nodes are numbered parents first. @type {number[]} */
    this.ends = this.nodes.map((_, number) => number + 1);
    for (let number = this.nodes.length - 1; number > 0; number--) {
      const parent = this.nodes[number].parent ?? 0;
      this.ends[parent] = Math.max(this.ends[parent], this.ends[number]);
    }
    this.states = new Uint8Array(this.nodes.length);
    /** @type {Map<number, number>} */
    this.values = new Map();
    this.build();
    this.lay();
    this.replay();
    this.fit();
    this.show();
  }

  // -- the page ------------------------------------------------------------------------------

  build() {
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "the tree; arrow keys step through the search, plus and minus zoom");
    document.getElementById("drawn")?.replaceWith(this.canvas);
    const player = /** @type {HTMLElement} */ (this.place.querySelector(".player"));
    for (const button of player.querySelectorAll("[data-go]")) {
      button.addEventListener("click", (event) => {
        event.preventDefault();
        this.pause();
        this.go(/** @type {HTMLElement} */ (button).dataset.go ?? "");
      });
    }
    this.play = this.button(player, "Play", () => (this.timer ? this.pause() : this.run()));
    this.slider = document.createElement("input");
    Object.assign(this.slider, { type: "range", min: "0", max: String(this.events.length) });
    this.slider.setAttribute("aria-label", "step");
    this.slider.addEventListener("input", () => this.goTo(Number(this.slider.value)));
    this.speed = document.createElement("select");
    this.speed.setAttribute("aria-label", "speed");
    for (const [label, pause] of [["slow", 1200], ["medium", 400], ["fast", 80], ["very fast", 16]]) {
      this.speed.append(new Option(String(label), String(pause), false, label === "medium"));
    }
    player.append(this.slider, this.speed);
    this.button(player, "Fold", (button) => {
      this.folded = !this.folded;
      button.setAttribute("aria-pressed", String(this.folded));
      this.lay();
      this.fit();
      this.show();
    }).setAttribute("aria-pressed", "false");
    this.button(player, "+", () => this.scale(1.4)).setAttribute("aria-label", "zoom in");
    this.button(player, "−", () => this.scale(1 / 1.4)).setAttribute("aria-label", "zoom out");
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      this.scale(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.offsetX, event.offsetY);
    }, { passive: false });
    this.drag();
    new ResizeObserver(() => { this.fit(); this.show(); }).observe(this.place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
  }

  /** @param {HTMLElement} place @param {string} label @param {(button: HTMLButtonElement) => void} act */
  button(place, label, act) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => act(button));
    place.append(button);
    return button;
  }

  drag() {
    const canvas = /** @type {HTMLCanvasElement} */ (this.canvas);
    /** @type {{x: number, y: number} | null} */
    let from = null;
    canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.offsetX, y: event.offsetY };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) { this.point(event.offsetX, event.offsetY); return; }
      this.x += event.offsetX - from.x;
      this.y += event.offsetY - from.y;
      from = { x: event.offsetX, y: event.offsetY };
      this.show();
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { from = null; });
  }

  /** Tell which position is under the pointer. @param {number} x @param {number} y */
  point(x, y) {
    const near = this.shown.find((number) => {
      const [left, top] = this.places[number];
      return Math.hypot(left * this.zoom + this.x - x, top * this.zoom + this.y - y) < RADIUS * this.zoom + 3;
    });
    const node = near === undefined ? null : this.nodes[near];
    /** @type {HTMLCanvasElement} */ (this.canvas).title = node ? `${node.move} ${node.position}`.trim() : "";
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowRight: () => this.go("forward"), ArrowLeft: () => this.go("back"),
      Home: () => this.go("first"), End: () => this.go("last"),
      "+": () => this.scale(1.4), "-": () => this.scale(1 / 1.4),
      " ": () => (this.timer ? this.pause() : this.run()),
    };
    if (!(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
  }

  // -- steps -----------------------------------------------------------------------------------

  /** @param {string} where */
  go(where) {
    const last = this.events.length;
    this.goTo({ first: 0, back: this.step - 1, forward: this.step + 1, last }[where] ?? this.step);
  }

  /** @param {number} step */
  goTo(step) {
    const wanted = Math.max(0, Math.min(this.events.length, step));
    if (wanted === this.step + 1) {
      this.step = wanted;
      this.apply(this.events[wanted - 1]);
    } else {
      this.step = wanted;
      this.replay();
    }
    this.show();
  }

  run() {
    if (this.step === this.events.length) this.goTo(0);
    const next = () => {
      this.go("forward");
      if (this.step === this.events.length) this.pause();
      else this.timer = window.setTimeout(next, Number(this.speed.value));
    };
    this.play.textContent = "Pause";
    this.timer = window.setTimeout(next, 0);
  }

  pause() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
  }

  /** From the beginning to this step. */
  replay() {
    this.states.fill(UNREACHABLE);
    this.states.fill(REACHABLE, this.performed.start, this.ends[this.performed.start]);
    for (let number = this.nodes[this.performed.start].parent; number !== null; number = this.nodes[number].parent) {
      this.states[number] = REACHED;
    }
    this.values.clear();
    for (const event of this.events.slice(0, this.step)) this.apply(event);
  }

  /** @param {SearchEvent} event */
  apply(event) {
    if (event.kind === "enter") this.states[event.node] = VISITED;
    for (const child of event.cut ?? []) this.mark(child, CUT);
    if (event.kind === "value") this.mark(event.node, UNREACHABLE);
    if (event.value !== undefined && event.kind !== "cut") this.values.set(event.node, event.value);
  }

  /** What nobody visited below a node. @param {number} node @param {number} state */
  mark(node, state) {
    for (let number = node; number < this.ends[node]; number++) {
      if (this.states[number] === REACHABLE) this.states[number] = state;
    }
  }

  // -- the drawing -----------------------------------------------------------------------------

  /** Leaves side by side, parents above the middle of their children. */
  lay() {
    /** @type {number[][]} */
    this.places = this.nodes.map(() => [0, 0]);
    const same = (/** @type {number} */ number) => !this.folded || this.nodes[number].same === number;
    /** Numbers of the nodes that are drawn, parents first. @type {number[]} */
    this.shown = [...this.nodes.keys()].filter(same);
    /** @type {Map<number, number[]>} */
    const children = new Map();
    for (const number of this.shown) {
      const parent = this.nodes[number].parent;
      if (parent === null) continue;
      const above = this.folded ? this.nodes[parent].same : parent;
      children.set(above, [...(children.get(above) ?? []), number]);
    }
    let leaves = 0;
    /** @param {number} number @returns {number} */
    const place = (number) => {
      const below = (children.get(number) ?? []).map(place);
      const x = below.length ? (below[0] + below[below.length - 1]) / 2 : leaves++ * STEP;
      this.places[number] = [x, this.nodes[number].ply * PLY];
      return x;
    };
    place(0);
    this.width = Math.max(STEP, leaves * STEP);
    this.height = Math.max(...this.shown.map((number) => this.places[number][1])) + PLY;
  }

  /** All of it in the window. */
  fit() {
    const canvas = /** @type {HTMLCanvasElement} */ (this.canvas);
    const wide = this.place.clientWidth;
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
    this.x = x - (x - (this.x ?? 0)) * factor;
    this.y = y - (y - (this.y ?? 0)) * factor;
    this.zoom *= factor;
    this.show();
  }

  show() {
    this.draw();
    const event = this.step ? this.events[this.step - 1] : null;
    const told = document.getElementById("told");
    const step = document.getElementById("step");
    if (told) told.textContent = event ? this.sentence(event) : "Nothing has happened yet.";
    if (step) step.textContent = String(this.step);
    this.slider.value = String(this.step);
    this.place.dataset.step = String(this.step);
    this.place.dataset.cut = String(this.states.reduce((sum, state) => sum + Number(state === CUT), 0));
  }

  /** @param {SearchEvent} event */
  sentence(event) {
    const [lowest, highest] = this.performed.whole_window;
    const node = this.nodes[event.node];
    const low = event.alpha === lowest ? "-∞" : event.alpha;
    const high = event.beta === highest ? "∞" : event.beta;
    /** @type {Record<string, unknown>} */
    const words = {
      move: this.nodes[event.child ?? event.node].move,
      side: node.ply % 2 ? "MIN" : "MAX",
      position: node.position,
      window: event.alpha === undefined ? "" : `(${low}, ${high})`,
      value: event.value,
      beta: event.beta,
      left: (event.cut ?? []).map((child) => this.nodes[child].move).join(" "),
    };
    return this.sentences[event.kind].replace(/\{(\w+)\}/g, (/** @type {string} */ _, /** @type {string} */ name) => String(words[name])).trim();
  }

  draw() {
    const canvas = /** @type {HTMLCanvasElement} */ (this.canvas);
    const paper = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const { zoom, x: left, y: top } = this;
    /** @param {number} number */
    const at = (number) => [this.places[number][0] * zoom + left, this.places[number][1] * zoom + top];
    const states = this.foldedStates();
    paper.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    paper.clearRect(0, 0, this.wide, this.high);
    this.edges(paper, at, states);
    const radius = Math.max(1.2, RADIUS * zoom);
    const fills = ["--line", "--raised", "--raised", "--accent", "--proved", "--bounded"].map(colour);
    const strokes = ["--line", "--soft", "--bad", "--accent", "--proved", "--text"].map(colour);
    for (let state = 0; state < STATES.length; state++) {
      paper.beginPath();
      for (const number of this.shown) if (states[number] === state) shape(paper, state, at(number), radius);
      paper.fillStyle = fills[state];
      paper.strokeStyle = strokes[state];
      paper.lineWidth = state === CURRENT ? 2 : 1;
      paper.fill();
      paper.stroke();
    }
    this.labels(paper, at, states, radius);
  }

  /** Folded nodes show the most that happened to any of the positions that they stand for. */
  foldedStates() {
    const states = this.states.slice();
    if (this.step) states[this.events[this.step - 1].node] = CURRENT;
    if (!this.folded) return states;
    const most = new Uint8Array(states.length);
    states.forEach((state, number) => {
      const first = this.nodes[number].same;
      most[first] = Math.max(most[first], state);
    });
    return most;
  }

  /** @param {CanvasRenderingContext2D} paper @param {(number: number) => number[]} at @param {Uint8Array} states */
  edges(paper, at, states) {
    for (const cut of [false, true]) {
      paper.beginPath();
      for (let number = 1; number < this.nodes.length; number++) {
        const parent = /** @type {number} */ (this.nodes[number].parent);
        const [above, below] = this.folded ? [this.nodes[parent].same, this.nodes[number].same] : [parent, number];
        if (this.folded && parent !== above) continue;
        if ((states[below] === CUT) !== cut) continue;
        const [x, y] = at(above);
        const [belowX, belowY] = at(below);
        paper.moveTo(x, y);
        paper.lineTo(belowX, belowY);
      }
      paper.strokeStyle = colour(cut ? "--bad" : "--plain-line");
      paper.setLineDash(cut ? [3, 3] : []);
      paper.lineWidth = 1;
      paper.stroke();
    }
    paper.setLineDash([]);
  }

  /** @param {CanvasRenderingContext2D} paper @param {(number: number) => number[]} at
   *  @param {Uint8Array} states @param {number} radius */
  labels(paper, at, states, radius) {
    paper.textBaseline = "middle";
    paper.font = "bold 12px system-ui, sans-serif";
    paper.fillStyle = colour("--soft");
    paper.textAlign = "left";
    for (let ply = 0; ply * PLY < this.height; ply++) {
      paper.fillText(ply % 2 ? "MIN" : "MAX", 4, ply * PLY * this.zoom + this.y);
    }
    if (radius < 5) return;
    paper.textAlign = "center";
    paper.font = `${Math.round(radius * 1.15)}px system-ui, sans-serif`;
    for (const number of this.shown) {
      const value = this.values.get(number);
      if (value === undefined) continue;
      const [x, y] = at(number);
      const filled = [VISITED, REACHED, CURRENT].includes(states[number]);
      paper.fillStyle = colour(filled ? "--ground" : "--text");
      paper.fillText(String(value), x, y);
    }
  }
}

/** @param {CanvasRenderingContext2D} paper @param {number} state @param {number[]} at @param {number} radius */
function shape(paper, state, [x, y], radius) {
  if (state === CURRENT) {
    const r = radius * 1.4;
    paper.moveTo(x, y - r);
    for (const [dx, dy] of [[r, 0], [0, r], [-r, 0], [0, -r]]) paper.lineTo(x + dx, y + dy);
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

document.addEventListener("DOMContentLoaded", async () => {
  const place = document.getElementById("stage");
  if (!place?.dataset.source) return;
  const performed = await (await fetch(place.dataset.source)).json();
  new Stage(place, performed);
  place.dataset.ready = "yes";
});
