// @ts-check
"use strict";
// Turns discs one after the other and moves the focus by arrow keys. The moves are the links of
// the page: everything works without this script as well.

/**
 * @typedef {{ply: number, who: string, move: string, discs: Record<string, string>}} Frame
 */

const TURN = 300;
const BETWEEN = 90;
const PAUSE = 250;
const SVG = "http://www.w3.org/2000/svg";
/** Which way an arrow key goes. @type {Record<string, [number, number]>} */
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** @param {number} time */
const pause = (time) => new Promise((done) => setTimeout(done, time));
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const place = () => /** @type {HTMLElement | null} */ (document.getElementById("play"));

/** Each page that is shown ends what the one before still does. */
let shown = 0;

/** @param {string} at */
const xy = (at) => at.split(",").map(Number);

/** @param {Element} board @param {string} at */
function discAt(board, at) {
  const [x, y] = xy(at);
  return board.querySelector(`circle.piece[cx="${x}"][cy="${y}"]`);
}

/** Makes the discs of a board those of a frame. @param {Element} board @param {Frame} frame */
function setDiscs(board, frame) {
  for (const disc of board.querySelectorAll("circle.piece")) disc.remove();
  const group = board.querySelector("g");
  for (const [at, colour] of Object.entries(frame.discs)) addDisc(group, at, colour);
}

/** @param {Element | null} group @param {string} at @param {string} colour */
function addDisc(group, at, colour) {
  const disc = document.createElementNS(SVG, "circle");
  const [x, y] = xy(at);
  disc.setAttribute("class", `piece ${colour}`);
  disc.setAttribute("cx", String(x));
  disc.setAttribute("cy", String(y));
  disc.setAttribute("r", "25");
  const mark = group?.querySelector(".last") ?? null;
  group?.insertBefore(disc, mark);
}

/**
 * Shows one move: the new disc at once, then the turned ones from near to far.
 * @param {Element} board @param {Frame} before @param {Frame} after @param {number} page
 */
async function showMove(board, before, after, page) {
  const group = board.querySelector("g");
  const added = Object.keys(after.discs).filter((at) => !(at in before.discs));
  for (const at of Object.keys(before.discs)) if (!(at in after.discs)) discAt(board, at)?.remove();
  for (const at of added) addDisc(group, at, after.discs[at]);
  const [x, y] = added.length ? xy(added[0]) : [0, 0];
  const away = (/** @type {string} */ at) => Math.hypot(xy(at)[0] - x, xy(at)[1] - y);
  const turned = Object.keys(after.discs)
    .filter((at) => at in before.discs && before.discs[at] !== after.discs[at])
    .sort((one, other) => away(one) - away(other));
  const turns = turned.map(async (at, number) => {
    await pause(BETWEEN * number);
    const disc = discAt(board, at);
    if (!disc || page !== shown) return;
    disc.classList.add("turning");
    await pause(TURN / 2);
    disc.classList.replace(before.discs[at], after.discs[at]);
    await pause(TURN / 2);
    disc.classList.remove("turning");
  });
  await Promise.all(turns);
}

/** Shows the moves since the page before, of which there were `plies`. @param {number} plies */
async function showMoves(plies) {
  const here = place();
  const board = here?.querySelector("svg.board");
  if (!here || !board) return;
  const page = shown;
  /** @type {Frame[]} */
  const frames = JSON.parse(here.dataset.frames ?? "[]");
  const first = frames.findIndex((frame) => frame.ply === plies);
  const last = frames.at(-1);
  if (first < 0 || !last || first === frames.length - 1 || still()) return;
  if (!Object.keys(last.discs).length) return;
  setDiscs(board, frames[first]);
  for (let at = first + 1; at < frames.length && page === shown; at++) {
    if (at > first + 1) await pause(PAUSE);
    if (page === shown) await showMove(board, frames[at - 1], frames[at], page);
  }
}

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
  if (keep) history.pushState(null, "", answer.url);
  const focused = here.contains(document.activeElement);
  here.dataset.frames = next.dataset.frames;
  here.dataset.plies = next.dataset.plies;
  // Parts stay in the document and get new content: so what is new is read aloud.
  for (const part of [".playing", "#news", "#rest"]) {
    here.querySelector(part)?.replaceChildren(...(next.querySelector(part)?.childNodes ?? []));
  }
  here.removeAttribute("aria-busy");
  if (focused) (firstMove() ?? here.querySelector("a.button"))?.focus();
  await showMoves(plies);
}

/** @returns {SVGAElement | null | undefined} */
const firstMove = () => place()?.querySelector("svg a.move");

/** The move that lies next in a direction. @param {Element} from @param {number[]} way */
function neighbour(from, way) {
  const middle = (/** @type {Element} */ move) => {
    const box = move.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const move of place()?.querySelectorAll("svg a.move") ?? []) {
    const [dx, dy] = [middle(move)[0] - x, middle(move)[1] - y];
    const along = dx * way[0] + dy * way[1];
    const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    if (along > 1 && along + 2 * aside < least) [best, least] = [move, along + 2 * aside];
  }
  return /** @type {SVGAElement | null} */ (best);
}

document.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  const move = target.closest("#play .board-frame a, #play a[data-undo]");
  if (!move || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  if (place()?.getAttribute("aria-busy") !== "true") go(move.getAttribute("href") ?? "", true);
});

document.addEventListener("keydown", (event) => {
  const way = WAYS[event.key];
  const from = document.activeElement?.closest("#play svg a.move");
  if (!way || !from) return;
  event.preventDefault();
  neighbour(from, way)?.focus();
});

addEventListener("popstate", () => go(location.href, false));
place()?.setAttribute("data-ready", "");
