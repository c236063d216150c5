// The events of the run: where each stands in the page's data, and what lists need to know of it.
// Payloads are read again when they are shown, so that memory holds the data once, as text.
'use strict';

const rows = [];
const bySeq = new Map();
const callsAt = new Map();
const run = { started: null, completed: null, first: null, last: null, parent: document.body.dataset.parent };
const tokens = { total: {}, models: new Map(), steps: new Map() };
const tools = new Map();
const prompts = [];
const TOKEN_KEYS = ['input_tokens', 'output_tokens', 'reasoning_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cost_usd'];
const TALK = /^(message\.|tool\.|error$|unknown$|run\.|step\.|deliverable\.missing|file\.rejected)/;

const texts = [];
const chunks = document.getElementsByClassName('events');
let chunksTaken = 0;

/** Takes what the parser has finished since the last time, for at most `millis`. Tells whether more is to come. */
function takeEvents(millis) {
  const until = performance.now() + millis;
  const loading = document.readyState === 'loading';
  // The last chunk of a page that is still being read may be cut anywhere.
  while (chunksTaken < chunks.length - (loading ? 1 : 0)) {
    takeChunk(chunks[chunksTaken].textContent);
    chunksTaken++;
    if (performance.now() > until) return true;
  }
  return loading;
}

function takeChunk(text) {
  const chunk = texts.push(text) - 1;
  let from = 0;
  while (from < text.length) {
    let to = text.indexOf('\n', from);
    // A page that was cut off ends in the middle of a line.
    if (to < 0) return;
    if (to > from) takeLine(chunk, from, to);
    from = to + 1;
  }
}

function takeLine(chunk, from, to) {
  const [seq, type, path, time, payload] = JSON.parse(texts[chunk].slice(from, to));
  const row = { n: rows.length, chunk, from, to, seq, type, path, time, height: 0, guess: 34, name: '', call: '', attempt: attemptAt(path), bad: false };
  rows.push(row);
  if (!bySeq.has(seq)) bySeq.set(seq, row);
  if (!run.first || time < run.first) run.first = time;
  if (!run.last || time > run.last) run.last = time;
  const facts = payload && typeof payload === 'object' ? payload : {};
  row.guess = guessHeight(type, to - from);
  if (type === 'run.started') [run.started, run.completed] = [facts, null];
  else if (type === 'run.completed') [run.completed, run.ended] = [facts, time];
  else if (type === 'usage') countTokens(path, facts);
  else if (type === 'tool.call' || type === 'tool.result') noteTool(row, facts);
  else if (type.startsWith('step.')) noteStep(row, facts);
  else if (type === 'message.user') notePrompt(row, facts);
  else if (type === 'error') row.bad = true;
}

/** A first idea of a row's height, by the length of its line. Rows that have been shown are measured. */
function guessHeight(type, length) {
  if (type.startsWith('message.')) return 60 + Math.min(length / 95, 60) * 24;
  if (type === 'tool.result') return 60 + Math.min(length / 80, 14) * 19;
  if (type === 'tool.call') return 60 + Math.min(length / 90, 14) * 12;
  if (type === 'step.started') return 80;
  return 30;
}

function countTokens(path, usage) {
  const step = path.replace(/\[\d+\]/g, '') || 'outside every step';
  addTokens(tokens.total, usage);
  addTokens(entryOf(tokens.models, String(usage.model || 'unknown model')), usage);
  addTokens(entryOf(tokens.steps, step), usage);
}

function entryOf(map, key) {
  let entry = map.get(key);
  if (!entry) map.set(key, entry = {});
  return entry;
}

/** What nobody gave stays absent and is never shown as 0. */
function addTokens(sum, usage) {
  for (const key of TOKEN_KEYS) {
    if (typeof usage[key] === 'number') sum[key] = (sum[key] || 0) + usage[key];
  }
  const given = TOKEN_KEYS.slice(0, -1).filter((key) => typeof usage[key] === 'number');
  const isNothing = given.every((key) => usage[key] === 0);
  // The cost of a whole session, without tokens of its own, is that of all tokens before it.
  if (typeof usage.cost_usd === 'number') sum.is_partial = sum.is_partial && !(usage.scope === 'session' && isNothing);
  else if (!given.length || !isNothing) sum.is_partial = true;
}

/** Which attempt of a step goes on at a path. */
const attemptAt = (path) => stepsByPath.get(path)?.attempts || 0;

/** A call's id is its own within an attempt; the next one may use it again. */
const callKey = (row, id) => [row.path, row.attempt, id].join('\n');

function noteTool(row, facts) {
  row.name = String(facts.name || 'a tool without a name');
  row.call = callKey(row, facts.call_id);
  const entry = entryOf(tools, row.name);
  if (row.type === 'tool.call') {
    entry.calls = (entry.calls || 0) + 1;
    callsAt.set(row.call, row);
    return;
  }
  row.bad = toolFailed(facts);
  const call = callsAt.get(row.call);
  const millis = typeof facts.duration_ms === 'number' ? facts.duration_ms : call ? Date.parse(row.time) - Date.parse(call.time) : NaN;
  if (call && !call.answer) call.answer = row;
  if (row.bad) entry.failed = (entry.failed || 0) + 1;
  entry.results = (entry.results || 0) + 1;
  if (millis >= 0) {
    entry.millis = (entry.millis || 0) + millis;
    entry.timed = (entry.timed || 0) + 1;
    entry.longest = Math.max(entry.longest || 0, millis);
  }
}

/** A run without steps is found its way in by what was asked for. */
function notePrompt(row, message) {
  const blocks = Array.isArray(message) ? message : Array.isArray(message.blocks) ? message.blocks : [];
  const said = blocks.find((block) => block && block.type === 'text' && block.purpose !== 'system_prompt' && typeof block.text === 'string');
  if (said) prompts.push({ row, text: said.text.slice(0, 120).replace(/\s+/g, ' ').trim() || '…' });
}

function toolFailed(facts) {
  if (facts.status) return facts.status !== 'completed';
  return Boolean(facts.error) || Boolean(facts.output && facts.output.IsError === true);
}

function statusOf(facts) {
  return facts.status || (facts.error ? 'failed' : 'succeeded');
}

const isFailure = (status) => ['failed', 'canceled', 'aborted', 'blocked'].includes(status);

/** The line of a row as it stands in the data. */
const lineOf = (row) => texts[row.chunk].slice(row.from, row.to);

/** What a row says: its payload, and the rest of its envelope. Numbers too large for a number stay texts. */
function read(row) {
  const line = lineOf(row);
  const exact = (key, value, context) =>
    typeof value === 'number' && context && !Number.isSafeInteger(value) && /^-?\d{16,}$/.test(context.source) ? new Exact(context.source) : value;
  const [, , , , payload, more] = /\d{16}/.test(line) ? JSON.parse(line, exact) : JSON.parse(line);
  return { payload, more: more || {} };
}

class Exact {
  constructor(source) { this.source = source; }
  toString() { return this.source; }
}
