// What the page does as a whole: views, links, keys, light and dark, and taking events as they come.
'use strict';

const $ = (id) => document.getElementById(id);
const root = document.documentElement;
let current = 'talk';
let isDone = false;
let noticeTimer = 0;
const MOST_PRINTED = 5000;

const FILTERS = { talk: (row) => TALK.test(row.type), tools: (row) => row.type.startsWith('tool.'), all: () => true, cost: () => false };
const TABLES = { tools: toolRow, cost: costRow };

function setView(name) {
  current = name;
  for (const tab of document.querySelectorAll('[role=tab]')) {
    tab.setAttribute('aria-selected', String(tab.dataset.view === name));
    tab.tabIndex = tab.dataset.view === name ? 0 : -1;
  }
  showRows([...(TABLES[name] ? [TABLES[name]] : []), ...rows.filter(FILTERS[name])]);
  setTop(0);
  paint();
}

/** Shows a row wherever it is, in another view if need be. */
function goTo(row) {
  if (shown[row.at] !== row) setView(FILTERS.talk(row) ? 'talk' : 'all');
  const before = rows[view.target];
  view.target = row.n;
  if (before) redraw(before);
  scrollToRow(row);
  redraw(row);
}

function linkTo(row) {
  history.replaceState(null, '', `#e${row.seq}`);
  goTo(row);
  const copied = navigator.clipboard?.writeText(location.href);
  if (copied) copied.then(() => notify('Link copied'), () => {});
}

function followHash() {
  const seq = /^#e(\d+)$/.exec(location.hash)?.[1];
  if (!seq) return true;
  const row = bySeq.get(Number(seq));
  if (row) goTo(row);
  else if (isDone) notify(`There is no event ${seq}.`);
  return Boolean(row);
}

function notify(text) {
  const notice = $('notice');
  notice.textContent = text;
  notice.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { notice.hidden = true; }, 2500);
}

function afterPaint() {
  markHere(false);
  if (search.text) highlight();
}

function showAbout() {
  const start = run.started || {};
  const end = run.completed;
  const name = textOf(start.name || (end && end.name)) || document.title;
  if (start.name || (end && end.name)) $('name').textContent = document.title = name;
  const status = end ? statusOf(end) : isDone ? 'no end was recorded' : 'loading';
  $('status').textContent = status;
  $('status').className = `status ${isFailure(status) ? 'bad' : status === 'succeeded' ? 'good' : ''}`;
  const agent = start.agent || {};
  const models = [...tokens.models.keys()];
  // The end of a resumed run may know of its last part only, and an aborted one was written later.
  const told = end && typeof end.duration_ms === 'number' ? end.duration_ms : 0;
  const between = Date.parse(end ? run.ended : run.last) - Date.parse(run.first);
  const took = told && status === 'aborted' ? told : Math.max(told, between);
  const sum = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'].map((key) => tokens.total[key]).filter((n) => typeof n === 'number');
  const facts = [textOf(start.kind), textOf(agent.provider), models.length ? models.slice(0, 3).join(', ') : textOf(agent.model),
    run.first ? `${run.first.slice(0, 10)} ${run.first.slice(11, 16)} UTC` : '', took >= 0 ? span(took) : '', count(rows.length, 'event'),
    sum.length ? count(sum.reduce((a, b) => a + b, 0), 'token') : '', textOf(start.cwd)].filter(Boolean);
  const about = el('span', '', facts.join(' · '));
  if (run.parent) about.append(' · called by ', runLink(run.parent));
  if (end && end.error) about.append(' · ', el('span', 'bad-word', textOf(end.error).slice(0, 300)));
  $('about').replaceChildren(about);
}

/** Takes events until all are there, a slice at a time. */
function load() {
  const before = rows.length;
  const more = takeEvents(before ? 24 : 8);
  if (rows.length > before) {
    for (let n = before; n < rows.length; n++) if (FILTERS[current](rows[n])) addShown(rows[n]);
    if (!before || shown.length < 200) paint();
    else pad.style.height = `${padHeight()}px`;
  }
  const now = performance.now();
  if (!more || !before || now - load.told > 400) {
    load.told = now;
    isDone = !more;
    showAbout();
    drawTree();
    if (TABLES[current]) redraw(TABLES[current]);
    if (search.text) searchSlice(search.ticket);
  }
  if (!load.linked && (rows.length > before || !more)) load.linked = followHash();
  if (more) setTimeout(load, document.readyState === 'loading' ? 30 : 0);
  else {
    list.setAttribute('aria-busy', 'false');
    if (!rows.length) box.replaceChildren(el('p', 'empty', 'No event was recorded.'));
    if (!$('end')) notify('This page was written while the run went on.');
    if (rows.length) paint();
    root.dataset.ready = 'true';
  }
}
load.told = 0;
load.linked = false;

function setThinking(on) {
  view.thinking = on;
  $('thinking').setAttribute('aria-pressed', String(on));
  redrawAll();
}

function moveTarget(by) {
  const here = rows[view.target];
  const first = shown[0]?.table ? 1 : 0;
  const at = here && shown[here.at] === here ? here.at + by : shown.length ? rowAt(top_)[0] : 0;
  const row = shown[Math.max(first, Math.min(at, shown.length - 1))];
  if (!row) return;
  history.replaceState(null, '', `#e${row.seq}`);
  goTo(row);
}

const KEYS = {
  '/': () => { query.focus(); query.select(); },
  j: () => moveTarget(1),
  k: () => moveTarget(-1),
  n: () => step(1),
  N: () => step(-1),
  t: () => setThinking(!view.thinking),
  g: () => { setTop(0); paint(); },
  G: () => { setTop(total); paint(); setTop(total); paint(); },
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === query) {
    if (event.key === 'Escape') { query.value = ''; startSearch(); list.focus(); }
    if (event.key === 'Enter' && event.shiftKey) { event.preventDefault(); submit(-1); }
    return;
  }
  if (event.key === 'Escape') document.body.classList.remove('menu');
  const act = KEYS[event.key];
  if (act) { event.preventDefault(); act(); }
});

$('tabs').addEventListener('click', (event) => { if (event.target.dataset.view) setView(event.target.dataset.view); });
$('tabs').addEventListener('keydown', (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const tabs = [...document.querySelectorAll('[role=tab]')];
  const next = tabs[(tabs.indexOf(event.target) + by + tabs.length) % tabs.length];
  next.focus();
  setView(next.dataset.view);
});
$('thinking').onclick = () => setThinking(!view.thinking);
$('previous').onclick = () => step(-1);
let typing = 0;
/** Goes to a match of what stands in the field, also if it was typed only now. */
function submit(by) {
  clearTimeout(typing);
  if (query.value.toLowerCase() !== search.text) startSearch();
  step(by);
}
$('search').onsubmit = (event) => { event.preventDefault(); submit(1); };
query.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(startSearch, 120); });
$('menu').onclick = () => $('menu').setAttribute('aria-expanded', String(document.body.classList.toggle('menu')));
list.addEventListener('click', () => document.body.classList.remove('menu'));
$('theme').onclick = () => {
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  // A page from a disk may not be allowed to remember.
  try { localStorage.setItem('quipu-theme', root.dataset.theme); } catch { /* It is as it was next time. */ }
};
try { root.dataset.theme = localStorage.getItem('quipu-theme') || ''; } catch { /* The system decides. */ }
list.addEventListener('scroll', () => { if (!onScroll.asked) { onScroll.asked = true; requestAnimationFrame(() => { onScroll.asked = false; onScroll(); }); } }, { passive: true });
let width = list.clientWidth;
new ResizeObserver(() => {
  if (!shown.length) return;
  if (list.clientWidth === width) paint();
  else {
    width = list.clientWidth;
    redrawAll();
  }
}).observe(list);
addEventListener('hashchange', followHash);
// Paper cannot be scrolled, so that all rows of the view are drawn for it, up to what a printer can bear.
addEventListener('beforeprint', () => {
  place(0, Math.min(shown.length, MOST_PRINTED) - 1);
  if (shown.length > MOST_PRINTED) box.append(el('p', 'remark printed', `${count(shown.length - MOST_PRINTED, 'more event')} …`));
});
addEventListener('afterprint', redrawAll);

load();
