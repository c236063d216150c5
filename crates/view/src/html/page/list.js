// The list: only the rows in sight are in the document, each as high as it is.
// Heights are guessed until a row has been seen. What is in sight stays where it is when guesses
// above it turn out wrong.
'use strict';

const BLOCK = 256;
const OVERSCAN = 700;
/** Browsers draw no element higher than some 16 million pixels; a longer list moves in larger steps. */
const HIGHEST = 8e6;

const list = document.getElementById('list');
const pad = document.getElementById('pad');
const box = document.getElementById('rows');

/** Rows that are shown now, their heights summed by blocks. */
let shown = [];
let sums = [];
let total = 0;
let top_ = 0;
let lastScroll = 0;
const drawn = new Map();

const heightOf = (row) => row.height || row.guess;

function showRows(rowsToShow) {
  shown = [];
  sums = [];
  total = 0;
  rowsToShow.forEach(addShown);
  clearDrawn();
}

function addShown(row) {
  const at = shown.push(row) - 1;
  row.at = at;
  const block = Math.floor(at / BLOCK);
  sums[block] = (sums[block] || 0) + heightOf(row);
  total += heightOf(row);
}

function clearDrawn() {
  drawn.clear();
  box.replaceChildren();
}

function offsetOf(at) {
  let y = 0;
  const block = Math.floor(at / BLOCK);
  for (let b = 0; b < block; b++) y += sums[b];
  for (let i = block * BLOCK; i < at; i++) y += heightOf(shown[i]);
  return y;
}

/** The row at a height, and where it begins. */
function rowAt(y) {
  let block = 0;
  let begin = 0;
  while (block < sums.length - 1 && begin + sums[block] <= y) begin += sums[block++];
  let at = block * BLOCK;
  while (at < shown.length - 1 && begin + heightOf(shown[at]) <= y) begin += heightOf(shown[at++]);
  return [at, begin];
}

function measure(row, height) {
  if (!height || Math.abs(height - heightOf(row)) < .5) return false;
  const change = height - heightOf(row);
  row.height = height;
  sums[Math.floor(row.at / BLOCK)] += change;
  total += change;
  return true;
}

const padHeight = () => Math.min(total, HIGHEST);
const room = () => Math.max(0, total - list.clientHeight);

function setTop(y) {
  top_ = Math.max(0, Math.min(y, room()));
  const height = padHeight();
  pad.style.height = `${height}px`;
  const wanted = total <= HIGHEST ? top_ : top_ / (room() || 1) * (height - list.clientHeight);
  if (Math.abs(list.scrollTop - wanted) > .5) list.scrollTop = wanted;
  lastScroll = list.scrollTop;
}

function onScroll() {
  const now = list.scrollTop;
  const moved = now - lastScroll;
  lastScroll = now;
  const end = padHeight() - list.clientHeight;
  if (total <= HIGHEST) top_ = now;
  else if (now <= 0) top_ = 0;
  else if (now >= end - 1) top_ = room();
  else if (Math.abs(moved) < list.clientHeight * 2) top_ = Math.max(0, Math.min(top_ + moved, room()));
  else top_ = now / end * room();
  paint();
}

/** Draws what is in sight, measures it, and keeps the row at the top in its place. */
function paint() {
  if (!shown.length) {
    clearDrawn();
    pad.style.height = '0px';
    return;
  }
  for (let round = 0; round < 4; round++) {
    const [anchor, begin] = rowAt(top_);
    const into = top_ - begin;
    const [first, firstTop] = rowAt(Math.max(0, top_ - OVERSCAN));
    const last = rowAt(top_ + list.clientHeight + OVERSCAN)[0];
    place(first, last);
    let changed = false;
    for (let at = first; at <= last; at++) changed = measure(shown[at], drawn.get(shown[at].n).getBoundingClientRect().height) || changed;
    if (changed) setTop(offsetOf(anchor) + into);
    const shift = lastScroll - top_ + (changed ? offsetOf(first) : firstTop);
    box.style.transform = `translateY(${shift}px)`;
    if (!changed) break;
  }
  const height = `${padHeight()}px`;
  if (pad.style.height !== height) pad.style.height = height;
  afterPaint();
}

/** Makes the rows from `first` to `last` the ones in the document, keeping those that are there. */
function place(first, last) {
  const wanted = new Set();
  for (let at = first; at <= last; at++) wanted.add(shown[at].n);
  for (const [n, element] of drawn) {
    if (!wanted.has(n)) {
      element.remove();
      drawn.delete(n);
    }
  }
  let next = box.firstChild;
  for (let at = first; at <= last; at++) {
    let element = drawn.get(shown[at].n);
    if (!element) drawn.set(shown[at].n, element = draw(shown[at]));
    if (element === next) next = next.nextSibling;
    else box.insertBefore(element, next);
  }
}

/** Draws a row anew after something in it was folded or unfolded. */
function redraw(row) {
  const old = drawn.get(row.n);
  if (!old) return;
  const focused = old.contains(document.activeElement) ? [...old.querySelectorAll('button, a')].indexOf(document.activeElement) : -1;
  const element = draw(row);
  old.replaceWith(element);
  drawn.set(row.n, element);
  if (focused >= 0) (element.querySelectorAll('button, a')[focused] || list).focus({ preventScroll: true });
  paint();
}

/** Draws everything anew after each row may have another height. */
function redrawAll() {
  const [anchor, begin] = rowAt(top_);
  const into = top_ - begin;
  for (const row of shown) row.height = 0;
  sums = [];
  total = 0;
  shown.forEach((row, at) => {
    const block = Math.floor(at / BLOCK);
    sums[block] = (sums[block] || 0) + heightOf(row);
    total += heightOf(row);
  });
  clearDrawn();
  setTop(offsetOf(anchor) + into);
  paint();
}

/** Brings a row that is shown to the upper part of the window. */
function scrollToRow(row) {
  // Rows around the target are measured by the first paint, so the second one is exact.
  for (let round = 0; round < 2; round++) {
    setTop(offsetOf(row.at) - Math.min(90, list.clientHeight / 6));
    paint();
  }
}

const firstVisible = () => (shown.length ? shown[rowAt(top_ + Math.min(100, list.clientHeight / 5))[0]] : null);
