// Texts: elements made of nodes, never of HTML, so that nothing a run says can become a part of the page.
'use strict';

const FOLDED_LINES = 14;
const FOLDED_LENGTH = 1600;
const LONG_TEXT = 8000;
const HUGE_TEXT = 100000;
const PIECE = 10000;

/** Makes an element with a class and children; strings become texts. */
function el(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

const count = (number, thing) => `${number.toLocaleString('en')} ${thing}${number === 1 ? '' : 's'}`;

function size(length) {
  if (length < 1000) return `${length} B`;
  return length < 1e6 ? `${(length / 1000).toFixed(1)} kB` : `${(length / 1e6).toFixed(1)} MB`;
}

function span(millis) {
  const seconds = Math.floor(millis / 1000);
  if (seconds < 1) return `${Math.round(millis)} ms`;
  if (seconds < 60) return `${(Math.floor(millis / 100) / 10).toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

/** Any value as text: a string as itself, anything else as indented JSON. */
function textOf(value) {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  return exactJson(value, '');
}

/** As JSON.stringify with two blanks, but with numbers as they were written. */
function exactJson(value, indent) {
  if (value instanceof Exact) return value.source;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (indent.length > 40) return JSON.stringify(value, (key, inner) => (inner instanceof Exact ? inner.source : inner));
  const inner = indent + '  ';
  const list = Array.isArray(value);
  const parts = list ? value.map((item) => inner + exactJson(item, inner)) : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${exactJson(item, inner)}`);
  const [open, close] = list ? '[]' : '{}';
  return parts.length ? `${open}\n${parts.join(',\n')}\n${indent}${close}` : open + close;
}

/** What a tool answered: its text, also where it is wrapped in blocks. */
function answerOf(output) {
  const blocks = Array.isArray(output) ? output : output && (output.content || output.Content);
  if (Array.isArray(blocks) && blocks.length) {
    const parts = blocks.map((block) => block && (block.text ?? block.Text));
    if (parts.every((part) => typeof part === 'string')) return parts.join('\n');
  }
  return textOf(output);
}

/** A text to the letter, of which a long one shows its beginning until all is asked for. */
function output(text, folds, key, bad) {
  const pre = el('pre', bad ? 'bad' : '');
  const whole = text.replace(/\n$/, '');
  const cut = cutOf(whole);
  if (cut < 0 || folds.isOpen(key)) {
    appendWhole(pre, whole);
    return cut < 0 ? pre : el('div', '', pre, more('Show less', folds, key));
  }
  pre.append(whole.slice(0, cut).replace(/\n$/, ''));
  const lines = whole.split('\n').length;
  return el('div', '', pre, more(`Show all ${lines > 1 ? count(lines, 'line') + ', ' : ''}${size(whole.length)}`, folds, key));
}

/** Appends a text of any length. Of a huge one, pieces that are out of sight cost nothing. */
function appendWhole(parent, text) {
  if (text.length <= HUGE_TEXT) {
    parent.append(text);
    return;
  }
  for (let from = 0; from < text.length;) {
    const line = text.indexOf('\n', from + PIECE);
    // A line may be longer than a browser can lay out at once.
    let to = line < 0 || line > from + PIECE * 2 ? Math.min(from + PIECE * 2, text.length) : line + 1;
    if (/[\ud800-\udbff]/.test(text[to - 1])) to++;
    parent.append(el('span', 'part', text.slice(from, to)));
    from = to;
  }
}

/** Where a long text is cut; -1 for a text that is not long. */
function cutOf(text) {
  let at = -1;
  for (let lines = 0; lines < FOLDED_LINES; lines++) {
    const next = text.indexOf('\n', at + 1);
    if (next < 0) return text.length > FOLDED_LENGTH * 1.3 ? FOLDED_LENGTH : -1;
    at = next;
  }
  if (text.length - at < 120 && text.length < FOLDED_LENGTH) return -1;
  return Math.min(at, FOLDED_LENGTH);
}

function more(label, folds, key) {
  const button = el('button', 'more', label);
  button.type = 'button';
  button.onclick = () => folds.toggle(key);
  return button;
}

/** What was said, with the plainest parts of Markdown. A very long text shows its beginning first. */
function prose(text, folds, key) {
  const box = el('div', 'text');
  const long = text.length > LONG_TEXT * 1.3 && !folds.isOpen(key);
  if (!long && text.length > HUGE_TEXT) {
    box.classList.add('whole');
    appendWhole(box, text);
    box.append(more('Show less', folds, key));
    return box;
  }
  const lines = (long ? text.slice(0, LONG_TEXT) : text).split(/\r\n|\n|\r/);
  for (let at = 0; at < lines.length;) at = takeProse(box, lines, at);
  if (text.length > LONG_TEXT * 1.3) box.append(more(long ? `Show all ${size(text.length)}` : 'Show less', folds, key));
  return box;
}

/** Takes one block of lines; returns where the next begins. */
function takeProse(box, lines, at) {
  const fence = /^\s*(`{3,}|~{3,})/.exec(lines[at]);
  if (fence) {
    let end = at + 1;
    while (end < lines.length && !lines[end].trim().startsWith(fence[1])) end++;
    box.append(el('pre', '', lines.slice(at + 1, end).join('\n')));
    return end + 1;
  }
  if (!lines[at].trim()) return at + 1;
  const title = /^#{1,6}\s+(.*)/.exec(lines[at]);
  if (title) {
    box.append(inline(el('p', 'title'), title[1]));
    return at + 1;
  }
  if (/^ {0,3}([-*_])( *\1){2,}\s*$/.test(lines[at])) {
    box.append(el('hr', ''));
    return at + 1;
  }
  if (isTableAt(lines, at)) return takeTable(box, lines, at);
  const bullet = /^\s*([-*+]|\d{1,9}[.)])\s+/;
  const sort = (line) => (!line.trim() || /^\s*(`{3,}|~{3,})|^#{1,6}\s/.test(line) ? 'end' : bullet.test(line) ? 'item' : line.startsWith('>') ? 'quote' : 'plain');
  const kind = sort(lines[at]);
  let end = at + 1;
  while (end < lines.length && (sort(lines[end]) === kind || (kind === 'item' && /^\s{2,}\S/.test(lines[end]) && sort(lines[end]) === 'plain'))) end++;
  const part = lines.slice(at, end);
  if (kind === 'item') {
    takeList(box, part, bullet);
  } else if (kind === 'quote') box.append(inline(el('blockquote', ''), part.map((line) => line.replace(/^> ?/, '')).join('\n')));
  else box.append(inline(el('p', ''), part.join('\n')));
  return end;
}

/** Lists, with those further in inside their items. */
function takeList(box, lines, bullet) {
  const around = [];
  for (const line of lines) {
    const mark = bullet.exec(line);
    const inner = around[around.length - 1];
    if (!mark) {
      inline(inner.list.lastChild, '\n' + line.trim());
      continue;
    }
    const indent = line.search(/\S/);
    while (around.length > 1 && indent < around[around.length - 1].indent) around.pop();
    let level = around[around.length - 1];
    if (!level || (indent > level.indent + 1 && around.length < 8)) {
      const first = mark[1];
      const list = el(/\d/.test(first) ? 'ol' : 'ul', '');
      if (/\d/.test(first)) list.start = parseInt(first, 10);
      (level ? level.list.lastChild : box).append(list);
      around.push(level = { indent, list });
    }
    level.list.append(inline(el('li', ''), line.slice(mark[0].length)));
  }
}

const cellsOf = (line) => line.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
const isTableAt = (lines, at) => lines[at].includes('|') && /^\s*\|?(\s*:?-+:?\s*\|)+\s*(:?-+:?)?\s*$/.test((lines[at + 1] || '').slice(0, 2000));

function takeTable(box, lines, at) {
  const row = (tag, line) => el('tr', '', ...cellsOf(line).map((cell) => inline(el(tag, ''), cell)));
  const head = row('th', lines[at]);
  const body = el('tbody', '');
  let end = at + 2;
  while (end < lines.length && lines[end].includes('|')) body.append(row('td', lines[end++]));
  box.append(el('div', 'scroller', el('table', '', el('thead', '', head), body)));
  return end;
}

// Each part is bounded: a text with many marks and no ends must not take forever.
const INLINE = /(`{1,8})(?!`)(.{1,1000}?)(?<!`)\1(?!`)|\*\*(\S(?:.{0,300}?\S)?)\*\*|(https?:\/\/[^\s<>"'`)\]]+)/gs;

/** Code, strong words and addresses that say where they lead; everything else is text. */
function inline(parent, text) {
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    parent.append(text.slice(from, match.index));
    if (match[1]) parent.append(el('code', '', match[2]));
    else if (match[3]) parent.append(el('strong', '', match[3]));
    else parent.append(link(match[4], match[4]));
    from = match.index + match[0].length;
  }
  parent.append(text.slice(from));
  return parent;
}

function link(href, text) {
  const a = el('a', '', text);
  a.href = href;
  a.rel = 'noopener noreferrer';
  return a;
}

/** A link to the page of another run, which lies beside this one. */
const runLink = (id) => (/^[\w.:-]{1,128}$/.test(id) ? link(`./${id}${/^index_*$/i.test(id) ? '_' : ''}.html`, id) : el('code', '', id));

/** Facts, a line for each key. */
function facts(object, folds, key) {
  const list = el('dl', '');
  for (const [name, value] of Object.entries(object)) {
    const text = textOf(value);
    const long = text.length > 160 || text.includes('\n');
    list.append(el('dt', '', name), long ? el('dd', '', output(text, folds, `${key}.${name}`)) : el('dd', '', el('code', '', text)));
  }
  return list;
}

/** What is shown when it is asked for. */
function fold(label, folds, key, inside) {
  const open = folds.isOpen(key);
  const button = el('button', '', label);
  button.type = 'button';
  button.setAttribute('aria-expanded', String(open));
  button.onclick = () => folds.toggle(key);
  return el('div', 'fold', button, open ? el('div', '', inside()) : null);
}
