// The HTTP server: which API a request is for, which step answers it, and what is written down of it.
//
// Every line of the log holds what the client asked and what it was told, in the transcript's words, so
// that a test compares a transcript with what was really said and really billed.

import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { gunzipSync, inflateSync } from 'node:zlib';

import { Answer } from './answer.mjs';
import { anthropic } from './anthropic.mjs';
import { chat } from './chat.mjs';
import { failureBody, failureEvent } from './failure.mjs';
import { gemini } from './gemini.mjs';
import { readRequest } from './request.mjs';
import { responses } from './responses.mjs';
import { finished } from './tools.mjs';

const MAKERS = { anthropic, responses, chat, gemini };

/** Starts the API on loopback and returns its URL and a way to stop it. */
export function serve(scenario, { port = 0, log } = {}) {
  const api = new ModelApi(scenario, log);
  const server = createServer((incoming, outgoing) => {
    api.handle(incoming, outgoing).catch((cause) => {
      api.write(incoming, { step: 'broken', note: String(cause.stack ?? cause) });
      if (!outgoing.headersSent) send(outgoing, 500, { error: { message: String(cause) } });
      else outgoing.destroy();
    });
  });
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const stop = () => {
        server.closeAllConnections();
        return new Promise((done) => server.close(done));
      };
      resolve({ url: `http://127.0.0.1:${server.address().port}`, stop });
    });
  });
}

class ModelApi {
  constructor(scenario, log) {
    this.scenario = scenario;
    this.log = log;
  }

  write(incoming, facts) {
    if (!this.log) return;
    const line = { at: Date.now(), method: incoming.method, path: incoming.url, ...facts };
    appendFileSync(this.log, `${JSON.stringify(line)}\n`);
  }

  async handle(incoming, outgoing) {
    const path = incoming.url.split('?')[0];
    if (incoming.method !== 'POST') return this.get(path, incoming, outgoing);
    const raw = await readBody(incoming);
    const body = JSON.parse(raw.length ? raw.toString('utf8') : '{}');
    const target = targetOf(path, body);
    if (!target) {
      this.write(incoming, { step: 'unknown' });
      return send(outgoing, 404, { error: { message: 'not found', type: 'not_found_error' } });
    }
    if (target.counts) {
      this.write(incoming, { step: 'count' });
      return send(outgoing, 200, { [target.counts]: Math.max(1, raw.length >> 2) });
    }
    return this.answer(target, body, incoming, outgoing);
  }

  get(path, incoming, outgoing) {
    this.write(incoming, { step: 'get' });
    if (path.endsWith('/models')) return send(outgoing, 200, { object: 'list', data: [], models: [], has_more: false });
    // A probe for a WebSocket: the client falls back to HTTP.
    if (path.endsWith('/responses')) return send(outgoing, 426, failureBody('responses', { message: 'no websocket here' }));
    return send(outgoing, incoming.method === 'HEAD' ? 200 : 404, { error: { message: 'not found', type: 'not_found_error' } });
  }

  async answer({ api, model, streams }, body, incoming, outgoing) {
    const request = readRequest(api, body, model, incoming.headers['user-agent']);
    const { index, step } = this.scenario.pick(request);
    const facts = {
      step: index,
      by: typeof index === 'number' ? (step.by ?? 'main') : index,
      api,
      client: request.client,
      model,
      tools: [...request.tools.keys()].sort(),
      system: request.system,
      users: request.users,
      results: request.results,
    };
    if (step.error && !step.error.in_stream) {
      this.write(incoming, { ...facts, failed: step.error.status ?? 500 });
      return send(outgoing, step.error.status ?? 500, failureBody(api, step.error), step.error.headers);
    }
    const answer = new Answer(this.scenario, step, this.scenario.turn);
    const { final, events, billed } = MAKERS[api](answer, finished(step.reply, request), request);
    const isWhole = !step.error && !step.hang && step.cut === undefined;
    this.write(incoming, { ...facts, said: answer.said, whole: isWhole, billed });
    if (!streams) return send(outgoing, 200, final, step.headers);
    return stream(api, step, events, outgoing);
  }
}

/** Says which API a path is for, and whether the answer is a stream. */
function targetOf(path, body) {
  const model = body.model ?? '';
  const streams = Boolean(body.stream);
  if (path.endsWith('/count_tokens')) return { counts: 'input_tokens' };
  if (path.endsWith('/messages')) return { api: 'anthropic', model, streams };
  if (path.endsWith('/responses')) return { api: 'responses', model, streams };
  if (path.endsWith('/chat/completions')) return { api: 'chat', model, streams };
  const verb = /\/([^/:]+):(\w+)$/.exec(path);
  if (!verb) return undefined;
  if (verb[2] === 'countTokens') return { counts: 'totalTokens' };
  return { api: 'gemini', model: verb[1], streams: verb[2] === 'streamGenerateContent' };
}

async function readBody(incoming) {
  const parts = [];
  for await (const part of incoming) parts.push(part);
  const raw = Buffer.concat(parts);
  const encoding = incoming.headers['content-encoding'];
  if (encoding === 'gzip') return gunzipSync(raw);
  if (encoding === 'deflate') return inflateSync(raw);
  return raw;
}

function send(outgoing, status, body, headers = {}) {
  const raw = Buffer.from(JSON.stringify(body));
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'content-length': raw.length,
    'request-id': 'req_fake0001',
    ...headers,
  });
  outgoing.end(raw);
}

async function stream(api, step, all, outgoing) {
  let events = all;
  if (step.error) events = [...all.slice(0, step.error.after ?? 2), failureEvent(api, step.error)];
  if (step.cut !== undefined) events = events.slice(0, step.cut);
  // A hang leaves a whole block behind and begins the next one, so that a test can tell what had been said.
  if (step.hang) events = events.slice(0, step.hang_after?.[api] ?? Math.max(1, events.length >> 1));
  outgoing.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'request-id': 'req_fake0001',
    connection: 'close',
    ...step.headers,
  });
  for (const [name, data] of events) {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    outgoing.write(`${name ? `event: ${name}\n` : ''}data: ${text}\n\n`);
  }
  if (step.cut !== undefined) return outgoing.destroy();
  if (!step.hang) return outgoing.end();
  const beat = setInterval(() => outgoing.write(': still here\n\n'), 1000);
  outgoing.on('close', () => clearInterval(beat));
}
