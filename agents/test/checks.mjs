// What must be true of a case. Each check returns what is wrong, in words.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { FILES, SECOND_SYSTEM, SYSTEM } from './case.mjs';
import { asTold, checkServed, instructed } from './served.mjs';
import { checkSpeech } from './speech.mjs';
import { eventsOf, isOwnWord, KINDS, ofType, requestsOf, sumOf } from './transcript.mjs';

const STEPS = ['ask', 'go_on'];

/** Returns everything that is wrong with a case. */
export function check(facts) {
  if (!facts.outcome) return [`nothing came of it: ${facts.printed.trim().slice(0, 500)}`];
  if (facts.transcripts.length !== 1) {
    return [`${facts.transcripts.length} transcripts; quipu ended with ${facts.outcome.code}: ${facts.stderr.trim().slice(0, 800)}`];
  }
  const perStep = facts.scenario.prompts.flatMap((prompt, index) => checkStep(facts, prompt, index));
  return [checkScript, checkVerdict, checkRun, checkFiles].flatMap((one) => one(facts)).concat(perStep);
}

/** The agent asked for all that was scripted and for nothing else. */
function checkScript({ requests, outcome }) {
  const strange = requests.filter(({ step }) => ['none', 'broken', 'unknown'].includes(step));
  return [
    ...strange.map((request) => `a request that the script does not know: ${request.path} ${request.note ?? ''}`),
    ...outcome.unused.map((index) => `step ${index} of the script was never asked for`),
  ];
}

function checkVerdict({ verdicts }) {
  return verdicts.flatMap(({ status, text }) => (status === 0 ? [] : [`quipu verify: ${text}`]));
}

function checkRun(facts) {
  const { events, outcome, scenario } = facts;
  const status = scenario.expect?.status ?? 'succeeded';
  const problems = [];
  const last = events.at(-1);
  if (events[0]?.type !== 'run.started') problems.push(`the first event is ${events[0]?.type}`);
  if (last?.type !== 'run.completed') problems.push(`the last event is ${last?.type}`);
  for (const type of ['run.started', 'run.completed']) {
    if (ofType(events, type).length !== 1) problems.push(`${ofType(events, type).length} times ${type}`);
  }
  // What the workflow itself says at its terminal step.
  const error = status === 'failed' ? 'the agent failed' : undefined;
  if (last?.payload?.error !== error) problems.push(`the run's error is ${show(last?.payload?.error)}, not ${show(error)}`);
  if (last?.payload?.status !== status) problems.push(`the run is ${last?.payload?.status}, not ${status}`);
  const succeeded = outcome.code === 0;
  if (succeeded !== (status === 'succeeded')) problems.push(`quipu ended with ${outcome.code ?? outcome.signal}`);
  const unknown = ofType(events, 'unknown').map(({ payload }) => payload.native_type);
  if (unknown.length) problems.push(`nobody understands ${unknown.join(', ')}`);
  if (outcome.left.length) problems.push(`left behind: ${outcome.left.join('; ').slice(0, 300)}`);
  const total = sumOf(ofType(events, 'usage').map(({ payload }) => payload));
  if (!isSame(total, last?.payload?.usage)) {
    problems.push(`the run's usage is ${show(last?.payload?.usage)}, its events add up to ${show(total)}`);
  }
  return problems;
}

function checkFiles({ out, scenario }) {
  return Object.entries({ ...FILES, ...scenario.expect?.files }).flatMap(([file, text]) => {
    const found = readFileSync(join(out, 'project', file), { encoding: 'utf8', flag: 'a+' });
    return found === text ? [] : [`${file} holds ${JSON.stringify(found)}, not ${JSON.stringify(text)}`];
  });
}

function checkStep(facts, prompt, index) {
  const path = STEPS[index];
  const events = asTold(eventsOf(facts.events, path));
  const requests = requestsOf(facts, index);
  const system = index === 0 ? SYSTEM : SECOND_SYSTEM;
  const isServed = facts.scenario.mcp_proxy && index === 0;
  const problems = [
    ...checkQuestion(events, requests, prompt, isServed ? instructed(events, system) : system),
    ...checkSpeech(facts, events, requests),
    ...checkUsage(facts, events, requests),
    ...checkRetries(facts, events),
    ...checkEnd(facts, events, requests),
    ...(isServed ? checkServed(eventsOf(facts.events, path), requests) : []),
  ];
  return problems.map((problem) => `${path}: ${problem}`);
}

/** The prompts are in the transcript, once, and they reached the model. */
function checkQuestion(events, requests, prompt, system) {
  const problems = [];
  const questions = ofType(events, 'message.user').filter((event) => !event.source);
  if (questions.length !== 1) problems.push(`${questions.length} questions`);
  const blocks = (questions[0]?.payload.blocks ?? []).map(({ purpose, text }) => ({ purpose, text }));
  const wanted = [
    { purpose: 'system_prompt', text: system },
    { purpose: 'prompt', text: prompt },
  ];
  if (show(blocks) !== show(wanted)) problems.push(`the question is ${show(blocks)}`);
  const sent = requests.filter(({ by }) => by === 'main').map(({ system: own, users }) => [own, ...users].join('\n'));
  if (!sent.length) problems.push('the model was never asked');
  for (const text of [system, prompt]) {
    if (!sent.every((all) => all.includes(text))) problems.push(`the model was not told "${text}"`);
  }
  return problems;
}

/** What the step used is what was billed for the requests that the agent counts. */
function checkUsage({ client, scenario }, events, requests) {
  const told = sumOf(ofType(events, 'usage').map(({ payload }) => payload));
  const completed = ofType(events, 'step.completed').at(-1)?.payload.usage;
  const problems = [];
  if (!isSame(told, completed)) problems.push(`the step's usage is ${show(completed)}, its events add up to ${show(told)}`);
  if (!client.counts) return isSame(told, {}) ? problems : [...problems, `usage out of nowhere: ${show(told)}`];
  const counted = requests.filter(({ by, billed }) => billed && client.counts.includes(by));
  const billed = sumOf(counted.map((request) => request.billed));
  // An agent that did not come to its end may not have come to its sums, but it has not used more.
  const hasFailed = scenario.expect?.status === 'failed';
  const isCut = scenario.expect?.timed_out || scenario.kill || (hasFailed && !client.countsFailed);
  const isRight = isCut ? (kind) => (told[kind] ?? 0) <= (billed[kind] ?? 0) : (kind) => (told[kind] ?? 0) === (billed[kind] ?? 0);
  if (!KINDS.every(isRight)) problems.push(`used ${show(told)}, billed ${show(billed)}`);
  return problems;
}

function checkRetries({ client, name }, events) {
  const retries = ofType(events, 'system').filter(({ payload }) => payload.subtype === 'retry').length;
  return name !== 'retry' || retries === client.tellsRetries ? [] : [`${retries} retries, not ${client.tellsRetries}`];
}

function checkEnd({ client, scenario, name }, events, requests) {
  const expect = scenario.expect ?? {};
  const problems = [];
  for (const type of ['step.started', 'step.completed']) {
    const count = ofType(events, type).length;
    if (count !== 1) problems.push(`${count} times ${type}`);
  }
  const end = ofType(events, 'step.completed').at(-1)?.payload ?? {};
  const status = expect.status ?? 'succeeded';
  if (end.status !== status) problems.push(`it is ${end.status}, not ${status}: ${end.error}`);
  const error = client.rewords?.[name] ?? expect.error ?? (expect.timed_out ? 'timed out' : '');
  if (!(end.error ?? '').includes(error)) problems.push(`its error is "${end.error}", without "${error}"`);
  if (status === 'failed' && !end.error) problems.push('it failed without an error');
  if (status !== 'succeeded') return [...problems, ...checkLastWords(events, end, error)];
  const texts = requests.flatMap(({ by, said }) => (by === 'main' ? (said ?? []) : [])).filter(({ type }) => type === 'text');
  const output = end.result?.output;
  if (output !== texts.at(-1)?.text) problems.push(`its output is ${show(output)}, not ${show(texts.at(-1)?.text)}`);
  return problems;
}

/** A step that failed still has what was said last, be it the agent's own word for the failure. */
function checkLastWords(events, end, error) {
  const problems = [];
  const messages = ofType(events, 'message.assistant').filter((event) => !event.source);
  const textOf = ({ payload }) => payload.blocks.filter(({ type }) => type === 'text').map(({ text }) => text);
  const last = messages.flatMap(textOf).at(-1) ?? '';
  if ((end.result?.output ?? '') !== last) problems.push(`its output is ${show(end.result?.output)}, not ${show(last)}`);
  const own = messages.filter(({ payload }) => isOwnWord(payload.model)).flatMap(textOf);
  if (own.length > 1 || !own.every((text) => text.includes(error))) problems.push(`it says by itself ${show(own)}`);
  return problems;
}

function isSame(one = {}, other = {}) {
  return KINDS.every((kind) => (one?.[kind] ?? 0) === (other?.[kind] ?? 0));
}

function show(value) {
  return JSON.stringify(value);
}
