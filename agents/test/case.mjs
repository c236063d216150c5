// One agent in one scenario: its scratch directory, its run, and the facts that are left.

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { programOf } from '../install.mjs';
import { clients } from './clients.mjs';

const agents = fileURLToPath(new URL('..', import.meta.url));

export const SYSTEM = 'SYSTEM-MARK-1: you are a careful tester.';
export const SECOND_SYSTEM = 'SYSTEM-MARK-2: you are still a careful tester.';

export const FILES = { 'README.md': '# Scratch project\n', 'data.txt': 'alpha\nbeta\ngamma\n' };

/** How long any case may take, in seconds. */
const LIMIT = 150;

/** How long, in seconds, an agent must have had the last answer before its step runs out of time. */
const MARGIN = 5;

/** Runs an agent in a scenario and returns what came of it. */
export async function runCase(cli, name, { quipu, isolation, keep }) {
  const scenario = JSON.parse(readFileSync(join(agents, 'scenarios', `${name}.json`), 'utf8'));
  let patience = clients[cli].patience;
  for (;;) {
    const facts = await attempt(cli, name, scenario, patience, { quipu, isolation });
    // Where the machine was too slow for the agent to get as far as the script goes, it gets more time.
    const wasTooSlow = scenario.expect?.timed_out && patience < 60 && !isFarEnough(facts);
    if (!keep && !wasTooSlow) facts.discard = () => rmSync(facts.out, { recursive: true, force: true });
    if (!wasTooSlow) return facts;
    rmSync(facts.out, { recursive: true, force: true });
    patience *= 2;
  }
}

/** Tells whether the agent had all of the script, and a while to tell of it, before the step was over. */
function isFarEnough({ outcome, requests }) {
  const last = Math.max(...requests.filter(({ said }) => said).map(({ at }) => at));
  return !outcome || (outcome.unused.length === 0 && outcome.at - last > MARGIN * 1000);
}

async function attempt(cli, name, scenario, patience, { quipu, isolation }) {
  // Short, because agents put sockets into their homes.
  const out = mkdtempSync(join(tmpdir(), 'quipu-agents-'));
  const at = (part) => join(out, part);
  for (const part of ['home', 'project', 'tmp', 'storage']) mkdirSync(at(part));
  const home = join(agents, 'homes', cli);
  if (existsSync(home)) cpSync(home, at('home'), { recursive: true });
  for (const [file, text] of Object.entries(FILES)) writeFileSync(join(at('project'), file), text);
  const job = {
    scenario: join(agents, 'scenarios', `${name}.json`),
    out,
    project: at('project'),
    log: at('requests.jsonl'),
    quipu,
    args: argumentsOf(cli, name, scenario, patience, at('storage'), workflowOf(cli, scenario, out)),
    env: environmentOf(out),
    kill: scenario.kill,
    limit: LIMIT,
  };
  writeFileSync(at('job.json'), JSON.stringify(job, null, 1));
  const printed = await runInside(job, isolation);
  return { cli, name, scenario, out, printed, client: clients[cli], ...gather(job) };
}

/** Returns the agent's workflow; where the scenario says so, its first step is given our tools. */
function workflowOf(cli, scenario, out) {
  const file = join(agents, 'workflows', `${cli}.yaml`);
  if (!scenario.mcp_proxy) return file;
  const given = join(out, 'workflow.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(given, text.replace(/^ {4}timeout: .*$/m, '$&\n    mcp_proxy: {enable: true}'));
  return given;
}

function argumentsOf(cli, name, scenario, patience, storage, workflow) {
  const [prompt, second] = scenario.prompts;
  const input = (key, value) => ['-i', `${key}=${value}`];
  const model = clients[cli].models?.[name];
  return [
    'run',
    workflow,
    ...['--storage', storage],
    ...input('program', programOf(cli)),
    ...input('api', '{api}'),
    ...input('system', SYSTEM),
    ...input('prompt', prompt),
    ...(second ? [...input('second_prompt', second), ...input('second_system', SECOND_SYSTEM)] : []),
    ...(scenario.expect?.timed_out ? ['--set', `ask.timeout=${patience}s`] : []),
    ...(model ? ['--set', `ask.model=${model}`] : []),
  ];
}

/** Nothing of the caller's environment reaches an agent, least of all a key. */
function environmentOf(out) {
  return {
    PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: join(out, 'home'),
    TMPDIR: join(out, 'tmp'),
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    TZ: 'UTC',
    USER: 'dev',
    QUIPU_AGENTS_CASE: out,
  };
}

function runInside(job, isolation) {
  const inner = [process.execPath, join(agents, 'test', 'inside.mjs'), join(job.out, 'job.json')];
  const [program, ...args] = [...(isolation ?? []), ...inner];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: (job.limit + 20) * 1000 });
  let printed = '';
  for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (text) => (printed += text));
  return new Promise((resolve) => {
    child.on('error', (cause) => resolve(String(cause)));
    child.on('close', () => resolve(printed));
  });
}

function gather({ out, log, quipu }) {
  const outcomeFile = join(out, 'outcome.json');
  const storage = join(out, 'storage');
  const listed = spawnSync('sh', ['-c', 'ls "$1"/transcripts/*.jsonl', 'sh', storage], { encoding: 'utf8' });
  const transcripts = listed.stdout.split('\n').filter(Boolean);
  const verdicts = transcripts.map((file) => {
    const id = file.replace(/.*\/|\.jsonl$/g, '');
    const verify = spawnSync(quipu, ['verify', '--storage', storage, id], { encoding: 'utf8' });
    return { status: verify.status, text: `${verify.stdout}${verify.stderr}`.trim() };
  });
  return {
    outcome: existsSync(outcomeFile) ? JSON.parse(readFileSync(outcomeFile, 'utf8')) : undefined,
    requests: existsSync(log) ? readLines(log) : [],
    transcripts,
    verdicts,
    events: transcripts.length ? readLines(transcripts[0]) : [],
    stderr: existsSync(join(out, 'stderr.txt')) ? readFileSync(join(out, 'stderr.txt'), 'utf8') : '',
  };
}

function readLines(file) {
  // Only LF ends a line: other separators may stand in texts.
  return readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
}
