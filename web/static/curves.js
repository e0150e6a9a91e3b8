// @ts-check
"use strict";
// Replaces the drawn curves by ones that can be read off with the pointer and zoomed.

/** @param {string} name */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** How times are written on the axis: by their distance, without am and pm. */
const DAYS = [
  [31536000, "{YYYY}", null, null, null, null, null, null, 1],
  [86400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [60, "{HH}:{mm}", "\n{D} {MMM}", null, null, null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{D} {MMM}", null, null, null, null, null, 1],
];

/** @typedef {{label: string, field: string, colour: string}} Curve */
/** @type {{title: string, log: boolean, curves: Curve[]}[]} */
const CHARTS = [
  { title: "Bounds of the root", log: false, curves: [
    { label: "at least", field: "lo", colour: "--accent" },
    { label: "at most", field: "hi", colour: "--bounded" }] },
  { title: "Nodes", log: true, curves: [
    { label: "searched", field: "nodes", colour: "--accent" },
    { label: "remaining", field: "remaining", colour: "--bounded" },
    { label: "in vain", field: "wasted_nodes", colour: "--unknown" }] },
  { title: "Questions", log: false, curves: [
    { label: "open", field: "open_questions", colour: "--accent" },
    { label: "leased", field: "leased", colour: "--bounded" }] },
];

const HEIGHT = 260;
const UNITS = ["", " k", " M", " G", " T", " P", " E"];
/** A number in three digits, such as 31.2 M. @param {number | null} number */
function short(number) {
  if (number === null || number === undefined) return "";
  let unit = 0;
  while (Math.abs(number) >= 999.5 && unit < UNITS.length - 1) {
    number /= 1000;
    unit += 1;
  }
  return `${+number.toPrecision(3)}${UNITS[unit]}`;
}

async function draw() {
  const place = document.getElementById("curves");
  const source = place?.dataset.source;
  if (!place || !source) return;
  const points = (await (await fetch(source)).json()).progress;
  const times = points.map((/** @type {any} */ point) => Date.parse(point.at) / 1000);
  for (const chart of CHARTS) {
    const data = [times, ...chart.curves.map((curve) =>
      points.map((/** @type {any} */ point) => chart.log ? point[curve.field] || null : point[curve.field]))];
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line") }, ticks: { stroke: colour("--line") } };
    // @ts-ignore: uPlot is a script of its own
    const plot = new uPlot({
      title: chart.title, width: place.clientWidth, height: HEIGHT,
      scales: { y: chart.log ? { distr: 3 } : {} },
      axes: [{ ...axis, values: DAYS }, {
        ...axis, size: 60,
        // Of a logarithmic axis the powers of ten are enough.
        values: (/** @type {any} */ _, /** @type {(number | null)[]} */ ticks) =>
          ticks.map((tick) => !chart.log || (tick !== null && Number.isInteger(Math.log10(tick))) ? short(tick) : ""),
        grid: { ...axis.grid, filter: (/** @type {any} */ _, /** @type {number[]} */ ticks) =>
          ticks.map((tick) => !chart.log || Number.isInteger(Math.log10(tick)) ? tick : null) },
      }],
      series: [{ value: "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}" }, ...chart.curves.map((curve) => ({
        label: curve.label, stroke: colour(curve.colour), width: 2,
        value: (/** @type {any} */ _, /** @type {number | null} */ number) => short(number) || "–",
      }))],
    }, data, place);
    // A phone may be turned.
    window.addEventListener("resize", () => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
  }
  document.getElementById("drawn")?.setAttribute("hidden", "");
}

document.addEventListener("DOMContentLoaded", draw);
