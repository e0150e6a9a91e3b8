// @ts-check
"use strict";
// Replaces the drawn curves by ones that can be read off with the pointer and zoomed.

/** @param {string} name */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

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
    new uPlot({
      title: chart.title, width: place.clientWidth, height: 260,
      scales: { y: chart.log ? { distr: 3 } : {} },
      axes: [axis, { ...axis, size: 70 }],
      series: [{}, ...chart.curves.map((curve) => ({ label: curve.label, stroke: colour(curve.colour), width: 2 }))],
    }, data, place);
  }
  document.getElementById("drawn")?.setAttribute("hidden", "");
}

document.addEventListener("DOMContentLoaded", draw);
