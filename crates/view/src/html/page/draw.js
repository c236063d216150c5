// How an event looks: one function per sort of event, each of a row and its payload.
'use strict';

const view = { thinking: false, target: -1 };
const opened = new Map();

/** What of a row is unfolded. */
function foldsOf(row) {
  return {
    isOpen(key) {
      const state = opened.get(row.n);
      if (state && (state.has(key) || (state.has('*') && key !== 'json'))) return !state.has('-' + key);
      return view.thinking && key.startsWith('thinking') && !(state && state.has('-' + key));
    },
    toggle(key) {
      const open = this.isOpen(key);
      if (!opened.has(row.n)) opened.set(row.n, new Set());
      const state = opened.get(row.n);
      state.delete(open ? key : '-' + key);
      state.add(open ? '-' + key : key);
      redraw(row);
    },
  };
}

function draw(row) {
  if (row.table) return el('section', 'row wide', ...row.table());
  let parts;
  let data;
  try {
    data = read(row);
    const payload = data.payload;
    const shaped = payload !== null && typeof payload === 'object';
    parts = (shaped && DRAW.get(row.type) || drawOther)(row, payload, data.more, foldsOf(row));
  } catch {
    // An event that is not of the shape of its type is shown as it stands.
    parts = { label: row.type, facts: ['its payload could not be read'], body: [output(lineOf(row), foldsOf(row), 'payload')] };
    data = null;
  }
  if (data && data.more.extra) parts.body = [...(parts.body || []), fold('More of the line', foldsOf(row), 'extra', () => facts(data.more.extra, foldsOf(row), 'x'))];
  const number = link(`#e${row.seq}`, `#${row.seq}`);
  number.title = 'Link to this event';
  number.onclick = (event) => { event.preventDefault(); linkTo(row); };
  const exact = el('button', 'exact', '{ }');
  exact.type = 'button';
  exact.title = 'Show the event as it was recorded';
  exact.setAttribute('aria-expanded', String(foldsOf(row).isOpen('json')));
  exact.onclick = () => foldsOf(row).toggle('json');
  const time = el('time', 'clock', row.time.slice(11, 19));
  time.dateTime = row.time;
  time.title = row.time;
  const words = (parts.facts || []).filter(Boolean).map((fact) => (fact instanceof Node ? fact : el('span', 'fact', brief(textOf(fact)))));
  const source = data && data.more.source ? el('span', 'fact', data.more.source) : null;
  const head = el('div', 'head', el('b', '', brief(parts.label)), ...words, source, el('span', 'tail', exact, time, number));
  const article = el('article', `row ${parts.look || ''}${row.n === view.target ? ' target' : ''}`, head, ...(parts.body || []).filter(Boolean), foldsOf(row).isOpen('json') ? output(recorded(row), foldsOf(row), 'recorded') : null);
  // Not what links name: the browser would scroll there by itself, and not know of rows out of sight.
  article.id = `event-${row.seq}`;
  article.setAttribute('aria-label', `${parts.label}, event ${row.seq}`);
  article.setAttribute('aria-posinset', String(row.n + 1));
  return article;
}

/** A head is a line or two; what is longer stands in the event as it was recorded. */
const brief = (text) => (text.length > 240 ? `${text.slice(0, 239)}…` : text);

/** What went wrong, in its own colour; a long one as any other output. */
function problem(error, folds, key) {
  const text = error ? textOf(error) : '';
  if (!text) return null;
  return cutOf(text) < 0 ? el('div', 'problem', text) : output(text, folds, `problem ${key}`, true);
}
const millis = (facts) => (typeof facts.duration_ms === 'number' ? span(facts.duration_ms) : '');
const isFull = (object) => object && typeof object === 'object' && Object.keys(object).length > 0;

function drawMessage(row, message, more, folds) {
  const blocks = Array.isArray(message) ? message : message.blocks || [];
  const reply = row.type === 'message.assistant';
  const prompt = blocks.some((block) => block.purpose === 'prompt');
  const reason = ['end_turn', 'tool_use', 'stop'].includes(message.stop_reason) ? '' : message.stop_reason;
  const body = blocks.map((block, at) => drawBlock(row, block, folds, at));
  return { label: reply ? 'Assistant' : prompt ? 'Prompt' : 'User', facts: [message.model, reason], look: reply ? 'reply' : 'user', body: body.length ? body : [el('div', 'remark', 'Nothing was said.')] };
}

function drawBlock(row, block, folds, at) {
  switch (block.type) {
    case 'text':
      if (block.purpose === 'system_prompt') return fold('System prompt', folds, `system${at}`, () => prose(textOf(block.text), folds, `s${at}`));
      return prose(textOf(block.text), folds, `t${at}`);
    case 'thinking':
      if (!block.thinking) return el('div', 'remark', 'Thinking that is not shown.');
      return fold('Thinking', folds, `thinking${at}`, () => prose(textOf(block.thinking), folds, `th${at}`));
    case 'tool_use': {
      const call = callsAt.get(callKey(row, block.tool_id));
      const label = el('span', '', '→ ', el('b', '', textOf(block.tool_name)));
      if (!call) return el('div', '', label, isFull(block.tool_input) ? facts(block.tool_input, folds, `u${at}`) : null);
      const there = link(`#e${call.seq}`, `#${call.seq}`);
      there.onclick = (event) => { event.preventDefault(); linkTo(call); };
      return el('div', 'remark', label, ' ', there);
    }
    case 'tool_result':
      return el('div', '', el('div', block.is_error ? 'bad-word' : 'remark', '← result'), output(answerOf(block.tool_content), folds, `r${at}`, block.is_error));
    case 'command':
      return drawCommand(block, folds, at);
    case 'stream':
      return prose(textOf(block.chunk), folds, `c${at}`);
    default:
      return el('div', '', el('div', 'remark', `A block of type ${textOf(block.type)}`), fold('Content', folds, `o${at}`, () => output(textOf(block), folds, `ob${at}`)));
  }
}

function drawCommand(block, folds, at) {
  const bad = typeof block.exit_code === 'number' && block.exit_code !== 0;
  return el('div', '', output(`$ ${textOf(block.command).trimEnd()}`, folds, `cmd${at}`),
    block.output ? output(textOf(block.output), folds, `out${at}`, bad) : null,
    bad ? el('div', 'bad-word', `exit code ${block.exit_code}`) : null);
}

function drawCall(row, call, more, folds) {
  const input = call.input;
  const body = input === null || input === undefined ? null : isFull(input) && !Array.isArray(input) ? facts(input, folds, 'in') : textOf(input) === '{}' ? null : output(textOf(input), folds, 'in');
  return { label: `→ ${row.name}`, facts: [call.provider === 'agent' ? '' : call.provider, row.answer ? '' : 'no result was recorded'], body: [body] };
}

function drawResult(row, result, more, folds) {
  const bad = toolFailed(result);
  const text = answerOf(result.output);
  return { label: `${bad ? '✗' : '←'} ${row.name}`, facts: [result.status || (bad ? 'failed' : 'completed'), millis(result)], look: bad ? 'bad' : '', body: [problem(result.error, folds, 'result'), text ? output(text, folds, 'out', bad) : null] };
}

function drawStepStart(row, step, more, folds) {
  const { provider, model } = step.agent || {};
  const attempt = step.attempt > 1 ? `attempt ${step.attempt}` : '';
  const child = more.child ? el('span', 'fact', 'calls run ', runLink(more.child)) : null;
  return { label: step.name || row.path || 'a step without a name', facts: [step.kind, provider || model, attempt, row.path !== step.name ? row.path : '', child], look: 'step', body: (step.blocks || []).map((block, at) => drawBlock(row, block, folds, at)) };
}

function drawStepEnd(row, step, more, folds) {
  const status = statusOf(step);
  const bad = isFailure(status);
  const result = step.result && typeof step.result === 'object' ? step.result : {};
  const streams = ['stdout', 'stderr', 'output'].filter((key) => typeof result[key] === 'string' && result[key]);
  const body = [problem(step.error, folds, 'step')];
  for (const key of streams) body.push(key === 'output' ? fold('Result', folds, 'result', () => output(result[key], folds, 'o')) : el('div', '', el('div', 'remark', key), output(result[key], folds, key, bad && key === 'stderr')));
  const rest = Object.fromEntries(Object.entries(result).filter(([key]) => !streams.includes(key) && key !== 'stdout' && key !== 'stderr' && key !== 'exit_code'));
  if (isFull(rest)) body.push(fold('More of the result', folds, 'rest', () => facts(rest, folds, 'rs')));
  else if (step.result !== undefined && typeof step.result !== 'object') body.push(output(textOf(step.result), folds, 'value'));
  const code = typeof result.exit_code === 'number' ? `exit code ${result.exit_code}` : '';
  return { label: `${bad ? '✗' : status === 'succeeded' ? '✓' : '•'} ${step.name || row.path}`, facts: [status, millis(step), code, step.attempt > 1 ? `attempt ${step.attempt}` : ''], look: bad ? 'bad' : status === 'succeeded' ? 'good' : '', body };
}

function drawRunStart(row, start, more, folds) {
  const { name, kind, ...rest } = start;
  return { label: `Run ${textOf(name)}`, facts: [kind], body: [isFull(rest) ? fold('What it was given', folds, 'run', () => facts(rest, folds, 'rs')) : null] };
}

function drawRunEnd(row, end, more, folds) {
  const status = statusOf(end);
  const { result, usage, counts } = end;
  const rest = Object.fromEntries(Object.entries({ result, usage, counts }).filter(([, value]) => value !== undefined && value !== null));
  return { label: `Run ${status}`, facts: [millis(end)], look: isFailure(status) ? 'bad' : 'good', body: [problem(end.error, folds, 'end'), isFull(rest) ? facts(rest, folds, 're') : null] };
}

function drawSystem(row, system, more, folds) {
  const { subtype, title, content, ...rest } = system;
  if (subtype === 'note' && typeof content === 'string') return { label: `Note${title ? `: ${textOf(title)}` : ''}`, body: [prose(content, folds, 'note')] };
  const all = { ...(title === undefined ? {} : { title }), ...(content === undefined ? {} : { content }), ...rest };
  return { label: 'system', facts: [textOf(subtype)], look: 'slim', body: [isFull(all) ? fold(Object.keys(all).join(', '), folds, 'facts', () => facts(all, folds, 'f')) : null] };
}

function drawUsage(row, usage) {
  const names = { input_tokens: 'in', output_tokens: 'out', cache_read_tokens: 'cache read', cache_write_tokens: 'cache written', reasoning_tokens: 'reasoning' };
  const numbers = Object.keys(names).filter((key) => typeof usage[key] === 'number').map((key) => `${usage[key].toLocaleString('en')} ${names[key]}`);
  if (typeof usage.cost_usd === 'number') numbers.push(`$${usage.cost_usd}`);
  return { label: 'usage', facts: [usage.model, numbers.join(', ')], look: 'slim' };
}

function drawError(row, error, more, folds) {
  return { label: `✗ Error ${textOf(error.code)}`, facts: [error.category, error.retryable ? 'may be tried again' : ''], look: 'bad', body: [problem(error.message, folds, 'error'), error.details !== undefined && error.details !== null ? fold('Details', folds, 'details', () => output(textOf(error.details), folds, 'd')) : null] };
}

function drawUnknown(row, record, more, folds) {
  return { label: `? Unknown record ${textOf(record.native_type)}`, facts: [record.reason], body: [more.raw ? output(more.raw, folds, 'raw') : null] };
}

function drawFile(row, file) {
  const word = { 'file.read': 'read', 'file.written': 'wrote', 'file.rejected': '✗ refused' }[row.type];
  return { label: word, facts: [file.file ? el('code', '', textOf(file.file)) : '', typeof file.bytes === 'number' ? size(file.bytes) : '', file.reason], look: row.type === 'file.rejected' ? 'bad' : 'slim' };
}

/** Every other type, those from the future among them. */
function drawOther(row, payload, more, folds) {
  const body = isFull(payload) && !Array.isArray(payload) ? facts(payload, folds, 'facts') : payload === null || textOf(payload) === '{}' ? null : output(textOf(payload), folds, 'payload');
  return { label: row.type, look: TALK.test(row.type) ? '' : 'slim', body: [body] };
}

const DRAW = new Map([
  ['run.started', drawRunStart],
  ['run.completed', drawRunEnd],
  ['step.started', drawStepStart],
  ['step.call_workflow.started', drawStepStart],
  ['step.completed', drawStepEnd],
  ['step.call_workflow.completed', drawStepEnd],
  ['message.user', drawMessage],
  ['message.assistant', drawMessage],
  ['tool.call', drawCall],
  ['tool.result', drawResult],
  ['system', drawSystem],
  ['usage', drawUsage],
  ['error', drawError],
  ['unknown', drawUnknown],
  ['file.read', drawFile],
  ['file.written', drawFile],
  ['file.rejected', drawFile],
]);
