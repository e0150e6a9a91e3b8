// @ts-check
"use strict";
// The controls of the theatre: steps, slider, speed, folding, zoom and pan, for one search or for
// two side by side that take their steps together. stage.js draws them.

// On a phone the options would stand between the title and the tree.
for (const options of document.querySelectorAll("details[data-open]")) {
  /** @type {HTMLDetailsElement} */ (options).open = matchMedia("(min-width: 40rem)").matches;
}

class Player {
  /** @param {HTMLElement} place @param {Performed[]} performances @param {Texts} texts */
  constructor(place, performances, texts) {
    this.place = place;
    this.words = texts.page;
    this.timer = 0;
    this.step = Number(place.dataset.step ?? 0);
    const scenes = /** @type {HTMLElement} */ (document.getElementById("scenes"));
    scenes.replaceChildren();
    this.stages = performances.map((performed) => new Stage(scenes, performed, texts));
    this.steps = Math.max(...this.stages.map((stage) => stage.events.length));
    this.build(/** @type {HTMLElement} */ (place.querySelector(".player")));
    for (const stage of this.stages) this.listen(stage);
    for (const stage of this.stages) stage.goTo(this.step);
    this.fit();
    let wide = place.clientWidth;
    new ResizeObserver(() => {
      if (place.clientWidth === wide) return;
      wide = place.clientWidth;
      this.fit();
    }).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
  }

  /** @param {HTMLElement} bar */
  build(bar) {
    for (const button of bar.querySelectorAll("[data-go]")) {
      button.addEventListener("click", (event) => {
        event.preventDefault();
        this.pause();
        this.go(/** @type {HTMLElement} */ (button).dataset.go ?? "");
      });
    }
    this.play = this.button(bar, this.words.play, () => (this.timer ? this.pause() : this.run()));
    this.slider = document.createElement("input");
    Object.assign(this.slider, { type: "range", min: "0", max: String(this.steps) });
    this.slider.setAttribute("aria-label", this.words.slider);
    this.slider.addEventListener("input", () => this.goTo(Number(this.slider?.value)));
    this.speed = document.createElement("select");
    this.speed.setAttribute("aria-label", this.words.speed);
    for (const [name, pause] of [["slow", 1200], ["medium", 400], ["fast", 80], ["very_fast", 16]]) {
      this.speed.append(new Option(this.words[name], String(pause), false, name === "medium"));
    }
    bar.append(this.slider, this.speed);
    this.button(bar, this.words.fold, (button) => {
      const folded = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(folded));
      for (const stage of this.stages) stage.fold(folded);
      this.show();
    }).setAttribute("aria-pressed", "false");
    this.button(bar, "+", () => this.scale(1.4)).setAttribute("aria-label", this.words.zoom_in);
    this.button(bar, "−", () => this.scale(1 / 1.4)).setAttribute("aria-label", this.words.zoom_out);
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

  /** Keys, wheel and fingers on one of the stages. @param {Stage} stage */
  listen(stage) {
    const { canvas } = stage;
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      stage.scale(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.offsetX, event.offsetY);
      stage.draw();
    }, { passive: false });
    /** Where fingers are, by pointer. @type {Map<number, number[]>} */
    const down = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      down.set(event.pointerId, [event.offsetX, event.offsetY]);
      canvas.setPointerCapture(event.pointerId);
      stage.point(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("pointermove", (event) => {
      const from = down.get(event.pointerId);
      if (!from) {
        stage.point(event.offsetX, event.offsetY);
        return;
      }
      const [other] = [...down].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const to = [event.offsetX, event.offsetY];
      if (other) {
        const [before, after] = [from, to].map(([x, y]) => Math.hypot(x - other[0], y - other[1]));
        if (before > 0) stage.scale(after / before, other[0], other[1]);
      } else {
        stage.x += to[0] - from[0];
        stage.y += to[1] - from[1];
      }
      down.set(event.pointerId, to);
      stage.draw();
    });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => down.delete(/** @type {PointerEvent} */ (event).pointerId));
    }
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

  /** @param {string} where */
  go(where) {
    this.goTo({ first: 0, back: this.step - 1, forward: this.step + 1, last: this.steps }[where] ?? this.step);
  }

  /** @param {number} step */
  goTo(step) {
    this.step = Math.max(0, Math.min(this.steps, step));
    for (const stage of this.stages) stage.goTo(this.step);
    this.show();
  }

  run() {
    if (this.step === this.steps) this.goTo(0);
    const next = () => {
      this.go("forward");
      if (this.step === this.steps) this.pause();
      else this.timer = window.setTimeout(next, Number(this.speed?.value));
    };
    if (this.play) this.play.textContent = this.words.pause;
    this.timer = window.setTimeout(next, 0);
  }

  pause() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    if (this.play) this.play.textContent = this.words.play;
  }

  fit() {
    for (const stage of this.stages) stage.fit();
    this.show();
  }

  /** @param {number} factor */
  scale(factor) {
    for (const stage of this.stages) stage.scale(factor);
    this.show();
  }

  show() {
    for (const stage of this.stages) stage.draw();
    const told = document.getElementById("told");
    const step = document.getElementById("step");
    if (told) told.textContent = this.stages[0].sentence();
    if (step) step.textContent = fill(this.words.step, { step: this.step, steps: this.steps });
    if (this.slider) this.slider.value = String(this.step);
    this.place.dataset.step = String(this.step);
    this.place.dataset.cut = this.stages.map((stage) => stage.counters.cut).join(" ");
  }
}

document.addEventListener("DOMContentLoaded", async () => {
  const place = document.getElementById("stage");
  if (!place?.dataset.sources) return;
  const answers = await Promise.all(place.dataset.sources.split(" ").map((source) => fetch(source)));
  const performances = await Promise.all(answers.map((answer) => answer.json()));
  new Player(place, performances, JSON.parse(place.dataset.texts ?? "{}"));
  // When it was seen, in milliseconds since the visitor asked for the page: in the frame after the
  // one that shows it.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    place.dataset.ready = String(Math.round(performance.now()));
  }));
});
