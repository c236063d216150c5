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
  const receipt = readReceipt();
  return receipt ? receiptSheet(receipt) : tokenSheet();
}

/** The receipt stands at the end of the page, once there is an end. */
function readReceipt() {
  const data = document.getElementById('receipt');
  try {
    return isDone && data ? JSON.parse(data.textContent) : null;
  } catch {
    return null;
  }
}

const PRICED_KEYS = ['input_tokens', 'output_tokens', 'reasoning_tokens', 'cache_read_tokens', 'cache_write_tokens'];

/** A figure that is not the whole is told as such. */
function costCells(cost) {
  const figure = !cost ? '–' : cost.usd === null ? 'unknown' : `${cost.is_complete ? '' : '≥ '}${dollars(cost.usd)}`;
  return [figure, cost ? cost.how.join(' + ') : '–'];
}

const dollars = (usd) => `$${usd === 0 || usd >= 1 ? usd.toFixed(2) : usd >= .01 ? usd.toFixed(4) : usd.toPrecision(2)}`;

function receiptSheet(receipt) {
  const row = (name, used) => [name, ...PRICED_KEYS.map((key) => number(used.tokens[key])), ...costCells(used.cost)];
  const heads = [...TOKEN_NAMES, 'obtained'];
  const lists = receipt.price_lists.length ? ` Prices are those of ${receipt.price_lists.join(', ')}.` : '';
  const parts = [el('p', 'remark', `Tokens as the providers reported them, each counted once. A cost is reported where the provider named it and priced where it is tokens times a price list.${lists} A dash or “unknown” means that nobody said, not that it was nothing.`)];
  if (!receipt.total.models.length) return [...parts, el('p', 'empty', 'No tokens were reported.')];
  const models = receipt.total.models.map((used) => row([used.model || 'unknown model', used.source].filter(Boolean).join(' · '), used));
  parts.push(table('By model', ['model', ...heads], [...models, row('all', receipt.total)]));
  const steps = receipt.steps.filter((step) => step.models.length).map((step) => row(step.path, step));
  if (!steps.length) return parts;
  if (receipt.outside_steps.models.length) steps.push(row('outside every step', receipt.outside_steps));
  return [...parts, table('By step', ['step', ...heads], steps)];
}

/** What is known while the run goes on. */
function tokenSheet() {
  const row = (name, sum) => [name, ...TOKEN_KEYS.slice(0, -1).map((key) => number(sum[key])), costCells({ usd: sum.cost_usd ?? null, is_complete: !sum.is_partial, how: [] })[0]];
  const parts = [el('p', 'remark', 'Tokens as the providers reported them, each counted once. Cost is what a provider itself named; a dash or “unknown” means that nobody said, not that it was nothing.')];
  if (!tokens.models.size) return [...parts, el('p', 'empty', 'No tokens were reported.')];
  parts.push(table('By model', ['model', ...TOKEN_NAMES], [...[...tokens.models].map(([name, sum]) => row(name, sum)), row('all', tokens.total)]));
  if (!stepRoot.children.length) return parts;
  const steps = [...tokens.steps].sort((a, b) => (b[1].output_tokens || 0) - (a[1].output_tokens || 0));
  return [...parts, table('By step', ['step', ...TOKEN_NAMES], steps.map(([name, sum]) => row(name, sum)))];
}
