// Texts: elements made of nodes, never of HTML, so that nothing a run says can become a part of the page.
'use strict';

const FOLDED_LINES = 14;
const FOLDED_LENGTH = 1600;
const LONG_TEXT = 8000;

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
    for (let from = 0; from < whole.length || from === 0;) {
      // A piece that is out of sight costs nothing.
      let to = whole.indexOf('\n', from + 20000);
      to = to < 0 ? whole.length : to + 1;
      pre.append(whole.length > 40000 ? el('span', 'part', whole.slice(from, to)) : whole.slice(from, to));
      if (to <= from) break;
      from = to;
    }
    return cut < 0 ? pre : el('div', '', pre, more('Show less', folds, key));
  }
  pre.append(whole.slice(0, cut).replace(/\n$/, ''));
  const lines = whole.split('\n').length;
  return el('div', '', pre, more(`Show all ${lines > 1 ? count(lines, 'line') + ', ' : ''}${size(whole.length)}`, folds, key));
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
  const bullet = /^\s*([-*+]|\d{1,9}[.)])\s+/;
  const sort = (line) => (!line.trim() || /^\s*(`{3,}|~{3,})|^#{1,6}\s/.test(line) ? 'end' : bullet.test(line) ? 'item' : line.startsWith('>') ? 'quote' : 'plain');
  const kind = sort(lines[at]);
  let end = at + 1;
  while (end < lines.length && (sort(lines[end]) === kind || (kind === 'item' && /^\s{2,}\S/.test(lines[end]) && sort(lines[end]) === 'plain'))) end++;
  const part = lines.slice(at, end);
  if (kind === 'item') {
    const first = bullet.exec(part[0])[1];
    const list = el(/\d/.test(first) ? 'ol' : 'ul', '');
    if (/\d/.test(first)) list.start = parseInt(first, 10);
    for (const line of part) {
      const mark = bullet.exec(line);
      if (mark) list.append(inline(el('li', ''), line.slice(mark[0].length)));
      else inline(list.lastChild, '\n' + line.trim());
    }
    box.append(list);
  } else if (kind === 'quote') box.append(inline(el('blockquote', ''), part.map((line) => line.replace(/^> ?/, '')).join('\n')));
  else box.append(inline(el('p', ''), part.join('\n')));
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
const runLink = (id) => (/^[\w.:-]{1,128}$/.test(id) ? link(`./${id}.html`, id) : el('code', '', id));

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
