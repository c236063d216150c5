// A scenario: which of its steps answers a request.
//
// Steps are chosen by the state of the conversation, not by order alone, because clients send
// requests of their own (titles, summaries) between those that the script is about.

import { readFileSync } from 'node:fs';

export class Scenario {
  constructor(data, cwd) {
    this.data = substitute(data, cwd);
    this.steps = this.data.steps;
    this.left = this.steps.map((step) => (step.times === 0 ? Infinity : (step.times ?? 1)));
    this.counters = new Map();
    this.turn = 0;
  }

  static read(file, cwd) {
    return new Scenario(JSON.parse(readFileSync(file, 'utf8')), cwd);
  }

  /** Returns the first step that still has uses left and whose condition holds. */
  pick(request) {
    const index = this.steps.findIndex((step, i) => this.left[i] > 0 && matches(step.when ?? {}, request));
    if (index >= 0) {
      this.left[index] -= 1;
      this.turn += 1;
      return { index, step: this.steps[index] };
    }
    if (request.tools.size === 0) {
      return { index: 'side', step: { reply: this.data.side ?? [{ text: 'A side answer' }] } };
    }
    return { index: 'none', step: { reply: [{ text: '(model-api: no step matches this request)' }] } };
  }

  /** Identifiers are counters, so that two runs say the same. */
  nextId(prefix) {
    const count = (this.counters.get(prefix) ?? 0) + 1;
    this.counters.set(prefix, count);
    return `${prefix}_fake${String(count).padStart(4, '0')}`;
  }

  /** Returns the steps that nothing asked for, apart from those that may be used any number of times. */
  unused() {
    return this.steps.flatMap((step, i) => (step.optional || this.left[i] === Infinity || this.left[i] === 0 ? [] : [i]));
  }
}

function substitute(value, cwd) {
  if (typeof value === 'string') return value.replaceAll('{cwd}', cwd);
  if (Array.isArray(value)) return value.map((item) => substitute(item, cwd));
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substitute(item, cwd)]));
  }
  return value;
}

const CONDITIONS = {
  tool_result: (want, request) => request.toolResult === want,
  tools: (want, request) => request.tools.size > 0 === want,
  offers: (want, request) => request.tools.has(want),
  client: (want, request) => request.client === want,
  api: (want, request) => request.api === want,
  first_user_has: (want, request) => request.firstUser.includes(want),
  some_user_has: (want, request) => request.users.some((text) => text.includes(want)),
  last_user_has: (want, request) => request.lastUser.includes(want),
  system_has: (want, request) => request.system.includes(want),
  model_has: (want, request) => request.model.includes(want),
};

function matches(when, request) {
  for (const [key, want] of Object.entries(when)) {
    const condition = CONDITIONS[key];
    if (!condition) throw new Error(`a scenario has the unknown condition "${key}"`);
    if (!condition(want, request)) return false;
  }
  // A request without tools is a title or the like: it must not eat the script unless a step asks for it.
  return request.tools.size > 0 || when.tools === false;
}
