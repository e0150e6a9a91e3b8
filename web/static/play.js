// @ts-check
"use strict";
// Turns discs one after the other, lets pieces be chosen before their target, and moves the focus
// by arrow keys. The moves are the links of the page: everything works without this script.

/**
 * @typedef {{ply: number, who: string, move: string, discs: Record<string, string>,
 *            lines: string}} Frame
 */

/** Between the turns of two discs, and between two moves, in milliseconds. */
const BETWEEN = 90;
const PAUSE = 350;
/** Between two moves of machines that go on by themselves. */
const WATCHING = 700;
const SVG = "http://www.w3.org/2000/svg";
/** Which way an arrow key goes. @type {Record<string, [number, number]>} */
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const CHOICES = "svg a.move, svg .pick";

/** @param {number} time */
const pause = (time) => new Promise((done) => setTimeout(done, time));
const place = () => /** @type {HTMLElement | null} */ (document.getElementById("play"));
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches || place()?.hasAttribute("data-still");

/** Each page that is shown ends what the one before still does. */
let shown = 0;

/** @param {string} at */
const xy = (at) => at.split(",").map(Number);

/** @param {string} name @param {Record<string, string | number>} attributes */
function drawn(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

// -- discs -------------------------------------------------------------------------------------

/** @param {Element} board @param {string} at */
function discAt(board, at) {
  const [x, y] = xy(at);
  return board.querySelector(`circle.piece[cx="${x}"][cy="${y}"]`);
}

/** Makes the discs of a board those of a frame. @param {Element} board @param {Frame} frame */
function setDiscs(board, frame) {
  for (const disc of board.querySelectorAll("circle.piece")) disc.remove();
  for (const [at, colour] of Object.entries(frame.discs)) addDisc(board, at, colour, "");
}

/** @param {Element} board @param {string} at @param {string} colour @param {string} kind */
function addDisc(board, at, colour, kind) {
  const group = board.querySelector("g");
  const [x, y] = xy(at);
  const disc = drawn("circle", { class: `piece ${colour} ${kind}`.trim(), cx: x, cy: y, r: 25 });
  group?.insertBefore(disc, group.querySelector(".last, .captures"));
}

/** The lines through what a move captured. @param {Element} board @param {string} lines */
function setLines(board, lines) {
  board.querySelector(".captures")?.remove();
  if (lines && board.closest(".show-lines")) {
    board.querySelector("g")?.append(drawn("path", { class: "captures", d: lines }));
  }
}

/**
 * A disc over the board that turns over in space, away from the disc that was placed.
 * @param {number[]} box of the disc: left, top and size @param {string[]} colours before and after
 * @param {number[]} way from the placed disc @param {number} delay
 */
function turner([left, top, size], colours, way, delay) {
  const frame = document.createElement("div");
  frame.className = "turner";
  for (const [name, value] of Object.entries({ left, top, width: size, height: size })) {
    frame.style.setProperty(name, `${value}px`);
  }
  const length = Math.hypot(...way) || 1;
  frame.style.setProperty("--x", String(-way[1] / length));
  frame.style.setProperty("--y", String(way[0] / length));
  frame.style.setProperty("--delay", `${delay}ms`);
  const solid = document.createElement("div");
  for (const colour of colours) {
    const face = document.createElement("i");
    face.className = colour;
    solid.append(face);
  }
  frame.append(solid);
  return frame;
}

/**
 * Shows one move: the new disc at once, then the turned ones from near to far. The board itself
 * is drawn anew only before the first and after the last turn: that is what takes time.
 * @param {SVGSVGElement} board @param {Frame} before @param {Frame} after
 */
async function showMove(board, before, after) {
  const added = Object.keys(after.discs).filter((at) => !(at in before.discs));
  const [x, y] = added.length ? xy(added[0]) : [0, 0];
  const way = (/** @type {string} */ at) => [xy(at)[0] - x, xy(at)[1] - y];
  const away = (/** @type {string} */ at) => Math.hypot(...way(at));
  const turned = Object.keys(after.discs)
    .filter((at) => at in before.discs && before.discs[at] !== after.discs[at])
    .sort((one, other) => away(one) - away(other));
  const frame = /** @type {HTMLElement} */ (board.parentElement);
  const [seen, around, view] = [board.getBoundingClientRect(), frame.getBoundingClientRect(), board.viewBox.baseVal];
  const scale = seen.width / view.width;
  const turners = turned.map((at, number) => {
    const [left, top] = xy(at).map((middle, axis) => (middle - 25 - [view.x, view.y][axis]) * scale);
    const box = [left + seen.x - around.x, top + seen.y - around.y, 50 * scale];
    return turner(box, [before.discs[at], after.discs[at]], way(at), BETWEEN * number);
  });
  for (const at of Object.keys(before.discs)) if (!(at in after.discs)) discAt(board, at)?.remove();
  for (const at of turned) discAt(board, at)?.classList.add("turned-away");
  for (const at of added) addDisc(board, at, after.discs[at], "placed");
  setLines(board, after.lines);
  frame.append(...turners);
  const last = turners.at(-1);
  if (last) await new Promise((done) => { last.addEventListener("animationend", done); });
  for (const at of turned) {
    const disc = discAt(board, at);
    disc?.classList.replace(before.discs[at], after.discs[at]);
    disc?.classList.remove("turned-away");
  }
  for (const each of turners) each.remove();
}

/** Shows the moves since the page before, of which there were `plies`. @param {number} plies */
async function showMoves(plies) {
  const here = place();
  const board = /** @type {SVGSVGElement | null | undefined} */ (here?.querySelector("svg.board"));
  if (!here || !board) return;
  const page = shown;
  /** @type {Frame[]} */
  const frames = JSON.parse(here.dataset.frames ?? "[]");
  const first = frames.findIndex((frame) => frame.ply === plies);
  const last = frames.at(-1);
  if (first < 0 || !last || first === frames.length - 1 || still()) return;
  if (!Object.keys(last.discs).length) return;
  board.classList.add("moving");
  setDiscs(board, frames[first]);
  for (let at = first + 1; at < frames.length && page === shown; at++) {
    if (at > first + 1) await pause(PAUSE);
    if (page === shown) await showMove(board, frames[at - 1], frames[at]);
  }
  board.classList.remove("moving");
}

// -- pages -------------------------------------------------------------------------------------

/** Shows the page at an address in place of this one. @param {string} href @param {boolean} keep */
async function go(href, keep) {
  const here = place();
  const plies = Number(here?.dataset.plies ?? -1);
  here?.setAttribute("aria-busy", "true");
  let answer;
  try {
    answer = await fetch(href);
  } catch {
    location.href = href;
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById("play");
  if (!answer.ok || !next || !here) {
    location.href = href;
    return;
  }
  shown += 1;
  for (const turner of here.querySelectorAll(".turner")) turner.remove();
  if (keep) history.pushState(null, "", answer.url);
  const focused = here.contains(document.activeElement);
  for (const name of ["frames", "plies", "still", "auto"]) {
    if (next.dataset[name] === undefined) delete here.dataset[name];
    else here.dataset[name] = next.dataset[name];
  }
  // Parts stay in the document and get new content: so what is new is read aloud.
  for (const part of [".playing", "#news", "#rest"]) {
    const [old, fresh] = [here.querySelector(part), next.querySelector(part)];
    if (!old || !fresh) continue;
    old.className = fresh.className;
    old.replaceChildren(...fresh.childNodes);
  }
  here.removeAttribute("aria-busy");
  offerPieces();
  offerCells();
  const moved = Number(here.dataset.plies) !== plies;
  if (focused) (here.querySelector(CHOICES) ?? here.querySelector("a.button"))?.focus();
  if (moved) await showMoves(plies);
}

/** Machines that play each other go on by themselves until somebody stops them. */
async function watch() {
  for (let page = shown; place()?.dataset.auto; page = shown) {
    await pause(WATCHING);
    const next = place()?.dataset.auto;
    if (!next || page !== shown) return;
    await go(next, true);
  }
}

// -- pieces that move --------------------------------------------------------------------------

/** Where moves go from piece to target: first the piece is chosen, then the target. */
function offerPieces() {
  const board = place()?.querySelector("svg.board");
  if (!board) return;
  const moves = [...board.querySelectorAll("a.move[data-from]")];
  const ways = moves.map((move) => `${move.getAttribute("data-from")} ${move.getAttribute("data-to")}`);
  if (!moves.length || new Set(ways).size < moves.length) return; // two moves along one way
  board.classList.add("picking");
  for (const move of moves) {
    const [x, y] = xy(move.getAttribute("data-to") ?? "");
    const [touch, shape] = [move.querySelector(".touch"), move.querySelector(".shape")];
    for (const [name, value] of [["x", x - 30], ["y", y - 30], ["width", 60], ["height", 60]]) {
      touch?.setAttribute(String(name), String(value));
    }
    shape?.setAttribute("cx", String(x));
    shape?.setAttribute("cy", String(y));
  }
  const first = moves[0];
  for (const from of new Set(moves.map((move) => move.getAttribute("data-from") ?? ""))) {
    const [x, y] = xy(from);
    const own = moves.filter((move) => move.getAttribute("data-from") === from);
    const names = own.map((move) => move.getAttribute("aria-label"));
    board.insertBefore(drawn("rect", {
      class: own.some((move) => move.classList.contains("best")) ? "pick best" : "pick",
      x: x - 30, y: y - 30, width: 60, height: 60, "data-from": from,
      role: "button", tabindex: 0, "aria-pressed": "false", "aria-label": `piece with moves ${names.join(", ")}`,
    }), first);
  }
}

/** Where moves cover several cells: these are chosen one by one until one move is left. */
function offerCells() {
  const board = place()?.querySelector("svg.board");
  const moves = [...(board?.querySelectorAll("a.move[data-cells]") ?? [])];
  if (!board || !moves.length) return;
  board.classList.add("picking", "covering");
  for (const cell of new Set(moves.flatMap(cells))) {
    const [x, y] = xy(cell);
    board.append(drawn("rect", {
      class: "pick", x: x - 30, y: y - 30, width: 60, height: 60, "data-cell": cell,
      role: "button", tabindex: 0, "aria-pressed": "false", "aria-label": `column ${x / 60 + 1}, row ${y / 60 + 1}`,
    }));
  }
}

/** @param {Element} move */
const cells = (move) => (move.getAttribute("data-cells") ?? "").split(" ");

/** @param {Element} pick */
function chooseCell(pick) {
  const board = pick.closest("svg");
  pick.classList.toggle("chosen");
  pick.setAttribute("aria-pressed", String(pick.classList.contains("chosen")));
  const chosen = [...(board?.querySelectorAll(".pick.chosen") ?? [])].map((each) => each.getAttribute("data-cell") ?? "");
  const moves = [...(board?.querySelectorAll("a.move[data-cells]") ?? [])];
  const left = moves.filter((move) => chosen.every((cell) => cells(move).includes(cell)));
  if (left.length === 1) go(left[0].getAttribute("href") ?? "", true);
  for (const each of board?.querySelectorAll(".pick") ?? []) {
    const possible = left.some((move) => cells(move).includes(each.getAttribute("data-cell") ?? ""));
    each.toggleAttribute("hidden", !possible && !each.classList.contains("chosen"));
  }
  for (const move of moves) move.classList.toggle("picked", chosen.length > 0 && left.includes(move));
}

/** @param {Element} pick */
function choosePiece(pick) {
  if (pick.hasAttribute("data-cell")) {
    chooseCell(pick);
    return;
  }
  const board = pick.closest("svg");
  const chosen = pick.classList.contains("chosen") ? "" : pick.getAttribute("data-from");
  for (const each of board?.querySelectorAll(".pick") ?? []) {
    const is = each.getAttribute("data-from") === chosen;
    each.classList.toggle("chosen", is);
    each.setAttribute("aria-pressed", String(is));
  }
  for (const move of board?.querySelectorAll("a.move[data-from]") ?? []) {
    move.classList.toggle("picked", move.getAttribute("data-from") === chosen);
  }
}

// -- touch and keys ----------------------------------------------------------------------------

/** The choice that lies next in a direction. @param {Element} from @param {number[]} way */
function neighbour(from, way) {
  const middle = (/** @type {Element} */ move) => {
    const box = (move.querySelector(".touch") ?? move).getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const move of place()?.querySelectorAll(CHOICES) ?? []) {
    if (!move.getClientRects().length) continue;
    const [dx, dy] = [middle(move)[0] - x, middle(move)[1] - y];
    const along = dx * way[0] + dy * way[1];
    const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    if (along > 1 && along + 2 * aside < least) [best, least] = [move, along + 2 * aside];
  }
  return /** @type {SVGElement | null} */ (best);
}

document.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  const pick = target.closest("#play .pick");
  if (pick) choosePiece(pick);
  const move = target.closest("#play .board-frame a, #play a[data-here]");
  if (!move || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  if (place()?.getAttribute("aria-busy") === "true") return;
  move.classList.add("pressed");
  go(move.getAttribute("href") ?? "", true);
});

document.addEventListener("keydown", (event) => {
  const from = document.activeElement?.closest(`#play :is(${CHOICES})`);
  const way = WAYS[event.key];
  if (!from) return;
  if (way) neighbour(from, way)?.focus();
  else if (from.matches(".pick") && (event.key === "Enter" || event.key === " ")) choosePiece(from);
  else return;
  event.preventDefault();
});

addEventListener("popstate", () => go(location.href, false));
offerPieces();
offerCells();
place()?.setAttribute("data-ready", "");
watch();
