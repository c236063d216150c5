// The tables: which tools were used and how that went, and where the tokens went.
'use strict';

/** Tables stand in the list like a row. */
const tableRow = (table) => ({ n: -1, type: '', path: '', seq: 0, height: 0, guess: 300, table });
const toolRow = tableRow(() => [toolTable()]);
const costRow = tableRow(() => costSheet());

const TOKEN_NAMES = ['input', 'output', 'of it reasoning', 'cache read', 'cache written', 'cost'];

function table(caption, heads, lines) {
  const body = lines.map((cells) => el('tr', '', ...cells.map((cell) => (cell instanceof Node ? cell : el('td', '', cell)))));
  const head = el('tr', '', ...heads.map((name) => {
    const cell = el('th', '', name);
    cell.scope = 'col';
    return cell;
  }));
  return el('div', 'scroller', el('table', '', el('caption', '', caption), el('thead', '', head), el('tbody', '', ...body)));
}

const number = (value) => (typeof value === 'number' ? value.toLocaleString('en') : '–');

function toolTable() {
  const lines = [...tools].sort((a, b) => (b[1].calls || 0) - (a[1].calls || 0)).map(([name, t]) => {
    const failed = el('td', t.failed ? 'bad' : '', number(t.failed || 0));
    const open = (t.calls || 0) - (t.results || 0);
    return [name, number(t.calls || 0), failed, open > 0 ? number(open) : '–', t.timed ? span(t.millis) : '–', t.timed ? span(t.millis / t.timed) : '–', t.timed ? span(t.longest) : '–'];
  });
  if (!lines.length) return el('p', 'empty', 'No tool was called.');
  return table('Tools', ['tool', 'calls', 'failed', 'no result', 'time', 'mean', 'longest'], lines);
}

function costSheet() {
  const row = (name, sum) => [name, ...TOKEN_KEYS.slice(0, -1).map((key) => number(sum[key])), typeof sum.cost_usd === 'number' ? `$${sum.cost_usd.toFixed(4)}` : 'unknown'];
  const parts = [el('p', 'remark', 'Tokens as the providers reported them, each counted once. Cost is what a provider itself named; a dash or “unknown” means that nobody said, not that it was nothing.')];
  if (!tokens.models.size) parts.push(el('p', 'empty', 'No tokens were reported.'));
  else {
    parts.push(table('By model', ['model', ...TOKEN_NAMES], [...[...tokens.models].map(([name, sum]) => row(name, sum)), row('all', tokens.total)]));
    const steps = [...tokens.steps].sort((a, b) => (b[1].output_tokens || 0) - (a[1].output_tokens || 0));
    parts.push(table('By step', ['step', ...TOKEN_NAMES], steps.map(([name, sum]) => row(name, sum))));
  }
  return parts;
}
