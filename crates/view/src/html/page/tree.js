// The tree of steps on the left. Branches are drawn when they are opened, a hundred at a time, so
// that a loop of any length stays light.
'use strict';

const PAGE = 100;
const stepRoot = { children: [], byKey: new Map(), inside: new Map(), open: true, limit: PAGE };
const stepsByPath = new Map();
const promptRoot = { children: [], limit: PAGE };
const treeElement = document.getElementById('tree');
const sideTitle = document.querySelector('#side h2');

function noteStep(row, facts) {
  const path = row.path || String(facts.name || '');
  const node = nodeAt(path, row);
  row.name = String(facts.name || '');
  if (row.type.endsWith('.started')) {
    node.kind = node.kind || facts.kind;
    node.status = 'open';
    node.attempts = (node.attempts || 0) + 1;
  } else {
    node.status = statusOf(facts);
    row.bad = isFailure(node.status);
  }
  settle(node);
}

/** The levels of `a.each[3].b`, or of `loop:3/b`, each with the path up to it. */
function levelsOf(path) {
  if (path.length > 1000) return [[path, path]];
  if (/^loop:\d+/.test(path)) {
    const parts = path.split('/');
    return parts.map((part, at) => [part, parts.slice(0, at + 1).join('/')]);
  }
  const levels = [];
  let before = '';
  for (const part of path.split('.').slice(0, 64)) {
    const [, name, indices] = /^(.*?)((?:\[\d+\])*)$/s.exec(part);
    let here = before ? `${before}.${name}` : name;
    if (name) levels.push([name, here]);
    for (const index of indices.match(/\[\d+\]/g) || []) levels.push([`iteration ${index.slice(1, -1)}`, here += index]);
    before = here;
  }
  return levels;
}

function nodeAt(path, row) {
  const known = stepsByPath.get(path);
  if (known) return known;
  let node = stepRoot;
  for (const [label, here] of levelsOf(path)) {
    let child = node.byKey.get(here);
    if (!child) {
      child = { label, path: here, children: [], byKey: new Map(), inside: new Map(), first: row, parent: node, open: node === stepRoot, limit: PAGE };
      node.byKey.set(here, child);
      node.children.push(child);
      stepsByPath.set(here, child);
    }
    node = child;
  }
  return node;
}

/** How a node stands: as it says itself, else as what is inside. Told to those around it, so that nobody has to look at all. */
function settle(node) {
  for (let here = node; here !== stepRoot; here = here.parent) {
    const now = here.status || standingInside(here.inside);
    if (now === here.standing) return;
    const beside = here.parent.inside;
    if (here.standing) beside.set(here.standing, beside.get(here.standing) - 1);
    beside.set(now, (beside.get(now) || 0) + 1);
    here.standing = now;
  }
}

function standingInside(inside) {
  const all = [...inside.keys()].filter((status) => inside.get(status) > 0);
  return all.find(isFailure) || (all.includes('open') ? 'open' : all[0] || 'open');
}

function drawTree() {
  const hasSteps = stepRoot.children.length > 0;
  if (!hasSteps) notePrompts();
  sideTitle.textContent = hasSteps ? 'Steps' : 'Prompts';
  treeElement.replaceChildren(...drawBranch(hasSteps ? stepRoot : promptRoot, 1));
  if (!hasSteps && !prompts.length) treeElement.append(el('li', 'remark', 'This run has no steps.'));
  markHere(true);
}

/** Where there are no steps, each prompt is a place to go to. */
function notePrompts() {
  for (let at = promptRoot.children.length; at < prompts.length; at++) {
    const { row, text } = prompts[at];
    promptRoot.children.push({ label: text, path: `prompt ${row.seq}`, children: [], first: row, parent: promptRoot, status: 'none', title: text });
  }
}

function drawBranch(node, level) {
  const items = node.children.slice(0, node.limit).map((child) => drawNode(child, level));
  const left = node.children.length - node.limit;
  if (left > 0) {
    const button = el('button', 'more', `${count(left, 'more step')} …`);
    button.type = 'button';
    button.onclick = () => { node.limit += PAGE * 5; drawTree(); };
    items.push(el('li', '', button));
  }
  return items;
}

function drawNode(node, level) {
  const status = node.status || node.standing || 'open';
  const mark = isFailure(status) ? ['bad', '✗'] : status === 'succeeded' ? ['good', '✓'] : status === 'open' ? ['open', '•'] : ['', status === 'none' ? '' : '–'];
  const turn = el('button', 'turn', node.children.length ? (node.open ? '▾' : '▸') : '');
  turn.type = 'button';
  turn.tabIndex = -1;
  turn.disabled = !node.children.length;
  turn.setAttribute('aria-hidden', 'true');
  turn.onclick = () => { node.open = !node.open; drawTree(); };
  const small = node.kind || node.attempts > 1 ? el('small', '', ` ${textOf(node.kind)}${node.attempts > 1 ? ` ×${node.attempts}` : ''}`) : null;
  const go = el('button', 'go', node.label, small);
  go.type = 'button';
  go.title = node.title || node.path;
  go.onclick = () => { document.body.classList.remove('menu'); goTo(node.first); };
  go.onkeydown = (event) => turnByKey(event, node);
  const line = el('div', 'node', turn, go, el('span', `mark ${mark[0]}`, mark[1]));
  line.dataset.path = node.path;
  const item = el('li', '', line);
  item.setAttribute('role', 'treeitem');
  item.setAttribute('aria-level', String(level));
  item.setAttribute('aria-label', status === 'none' ? node.label : `${node.label}, ${status === 'open' ? 'not ended' : status}`);
  if (node.children.length) {
    item.setAttribute('aria-expanded', String(node.open));
    if (node.open) {
      const group = el('ul', '', ...drawBranch(node, level + 1));
      group.setAttribute('role', 'group');
      item.append(group);
    }
  }
  return item;
}

function turnByKey(event, node) {
  const all = [...treeElement.querySelectorAll('.go')];
  const at = all.indexOf(event.target);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) all[at + step]?.focus();
  else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
    if (!node.children.length) return;
    node.open = event.key === 'ArrowRight';
    drawTree();
    treeElement.querySelectorAll('.go')[at]?.focus();
  } else return;
  event.preventDefault();
}

let herePath = null;

/** Marks the step in sight, or the one around it that is open; without steps, the prompt before it. */
function markHere(anew) {
  const row = firstVisible();
  const node = row && (stepRoot.children.length ? stepsByPath.get(row.path) : lastPrompt(row));
  const path = node ? node.path : '';
  if (path === herePath && !anew) return;
  herePath = path;
  treeElement.querySelectorAll('.here').forEach((line) => line.classList.remove('here'));
  for (let around = node; around && around.path; around = around.parent) {
    const line = treeElement.querySelector(`[data-path="${CSS.escape(around.path)}"]`);
    if (line) {
      line.classList.add('here');
      return;
    }
  }
}

function lastPrompt(row) {
  let [low, high] = [0, promptRoot.children.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (promptRoot.children[middle].first.n <= row.n) low = middle + 1;
    else high = middle;
  }
  return promptRoot.children[low - 1];
}
