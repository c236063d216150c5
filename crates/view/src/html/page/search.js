// Search over all events, not only those in the document. It works in slices, so that the page never
// stops, and shows what it has found so far.
'use strict';

const query = document.getElementById('query');
const found = document.getElementById('found');
const search = { text: '', hits: [], now: -1, next: 0, ticket: 0, wanted: 0 };

function startSearch() {
  const text = query.value;
  search.text = text.toLowerCase();
  search.hits = [];
  search.now = -1;
  search.next = 0;
  search.ticket++;
  search.wanted = 0;
  if (search.text) searchSlice(search.ticket);
  else showFound();
  highlight();
}

/** Looks on from where it stopped; called again when more events have come. */
function searchSlice(ticket) {
  if (ticket !== search.ticket || !search.text) return;
  const until = performance.now() + 14;
  // Letters and digits stand in the data as they are, so that most lines need not be read at all.
  const plain = /^[a-z0-9 _.,-]+$/.test(search.text) ? search.text : '';
  while (search.next < rows.length && performance.now() < until) {
    const row = rows[search.next++];
    if (plain && !mayHave(row, plain)) continue;
    if (has(row, search.text)) search.hits.push(row);
  }
  showFound();
  if (search.next < rows.length) setTimeout(() => searchSlice(ticket), 0);
  else if (search.wanted) step(search.wanted);
}

function mayHave(row, plain) {
  const line = lineOf(row);
  return line.toLowerCase().includes(plain) || /\\u(?!003c)/i.test(line);
}

function has(row, text) {
  if (row.path.toLowerCase().includes(text) || row.type.includes(text)) return true;
  const { payload, more } = read(row);
  try {
    return saysItAnywhere(row, payload, more, text);
  } catch {
    // A value that nests deeper than anybody can go is looked at as a text.
    return lineOf(row).toLowerCase().includes(text);
  }
}

/** So many levels of a payload have keys that stand nowhere on the page, for it has words of its own for them. */
function levelsInWords(type) {
  if (!DRAW.has(type) || type === 'system' || type.startsWith('run.')) return 0;
  return type.startsWith('message.') || type.endsWith('.started') ? 3 : type === 'tool.result' ? 4 : 1;
}

function saysItAnywhere(row, payload, more, text) {
  return saysIt(payload, text, levelsInWords(row.type)) || Boolean(more.raw && saysIt(more.raw, text)) || Boolean(more.source && saysIt(more.source, text));
}

function saysIt(value, text, inWords = 0) {
  if (typeof value === 'string') return value.toLowerCase().includes(text);
  if (value === null || typeof value !== 'object') return String(value).includes(text);
  if (value instanceof Exact) return value.source.includes(text);
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'signature') continue;
    if (inWords <= 0 && !Array.isArray(value) && key.toLowerCase().includes(text)) return true;
    if (saysIt(inner, text, inWords - 1)) return true;
  }
  return false;
}

function showFound() {
  const { hits, now, text, next } = search;
  const going = next < rows.length ? '…' : '';
  found.textContent = !text ? '' : !hits.length ? (going || 'not found') : `${now >= 0 ? `${(now + 1).toLocaleString('en')} of ` : ''}${hits.length.toLocaleString('en')}${going}`;
}

/** Goes to the next match or the one before, as soon as all are known. */
function step(by) {
  const { hits } = search;
  search.wanted = search.text && search.now < 0 && search.next < rows.length ? by : 0;
  if (search.wanted || !hits.length) return;
  if (search.now < 0) {
    // The first step goes to what is next from here.
    const here = firstVisible();
    const at = hits.findIndex((row) => !here || row.n >= here.n);
    search.now = by > 0 ? Math.max(at, 0) : (at <= 0 ? hits.length : at) - 1;
  } else search.now = (search.now + by + hits.length) % hits.length;
  const row = hits[search.now];
  if (!opened.has(row.n)) opened.set(row.n, new Set());
  opened.get(row.n).add('*');
  goTo(row);
  redraw(row);
  showFound();
  highlight();
  scrollToHit(row);
}

/** Marks matches in what is drawn. Marks are no elements, so that nothing moves. */
function highlight() {
  if (!window.CSS || !CSS.highlights) return;
  CSS.highlights.clear();
  if (!search.text) return;
  const all = [];
  const current = search.now >= 0 ? search.hits[search.now] : null;
  for (const [n, element] of drawn) {
    const ranges = rangesIn(element, search.text);
    all.push(...ranges);
    if (current && n === current.n && ranges.length) {
      const now = new Highlight(ranges[0]);
      now.priority = 1;
      CSS.highlights.set('found-now', now);
    }
  }
  CSS.highlights.set('found', new Highlight(...all));
}

function rangesIn(element, text) {
  const ranges = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && ranges.length < 500) {
    const lower = walker.currentNode.data.toLowerCase();
    // A letter whose lower case is longer would shift the rest.
    if (lower.length !== walker.currentNode.data.length) continue;
    for (let at = lower.indexOf(text); at >= 0 && ranges.length < 500; at = lower.indexOf(text, at + text.length)) {
      const range = new Range();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + text.length);
      ranges.push(range);
    }
  }
  return ranges;
}

/** A match far down in a long event is brought into sight. */
function scrollToHit(row) {
  const element = drawn.get(row.n);
  const [range] = element ? rangesIn(element, search.text) : [];
  if (!range) return;
  const at = range.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (at < 40 || at > list.clientHeight - 60) {
    setTop(top_ + at - list.clientHeight / 3);
    paint();
  }
}
