// Runs one case, inside its namespace: the API, `quipu run`, and whoever kills the agent. It only gathers
// facts, in outcome.json; what they ought to be is decided outside.

import { spawn } from 'node:child_process';
import { existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';

import { Scenario } from '../api/scenario.mjs';
import { serve } from '../api/server.mjs';

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const scenario = Scenario.read(job.scenario, job.project);
const api = await serve(scenario, { log: job.log });

const started = Date.now();
const args = job.args.map((arg) => arg.replaceAll('{api}', api.url));
const output = [openSync(join(job.out, 'stdout.txt'), 'w'), openSync(join(job.out, 'stderr.txt'), 'w')];
const quipu = spawn(job.quipu, args, { cwd: job.project, env: job.env, stdio: ['ignore', ...output] });
const ended = new Promise((resolve) => {
  quipu.on('exit', (code, signal) => resolve({ code, signal }));
  quipu.on('error', (cause) => resolve({ code: null, signal: String(cause) }));
});
if (job.kill) killer(ended);
const limit = setTimeout(() => quipu.kill('SIGKILL'), job.limit * 1000);
const exit = await ended;
clearTimeout(limit);

const outcome = {
  ...exit,
  at: Date.now(),
  seconds: (Date.now() - started) / 1000,
  left: await leftBehind(),
  unused: scenario.unused(),
};
writeFileSync(join(job.out, 'outcome.json'), JSON.stringify(outcome, null, 1));
processes().forEach(({ pid }) => end(pid));
await api.stop();
process.exit(0);

/** Kills the agent, and whatever it has started, once its mark is there. */
async function killer(whenEnded) {
  let isOver = false;
  whenEnded.then(() => (isOver = true));
  while (!isOver && !existsSync(join(job.project, job.kill.when))) await sleep(50);
  await sleep(1500);
  if (isOver) return;
  for (const { pid } of processes()) if (pid !== quipu.pid) end(pid, job.kill.signal);
}

/** Returns what still runs a moment after everything has ended. */
async function leftBehind() {
  for (let tries = 0; tries < 20 && processes().length; tries += 1) await sleep(100);
  return processes().map(({ command }) => command);
}

/** Returns the processes of this case: they carry its mark in their environment. */
function processes() {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const environ = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
        const state = /\) (\w)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1];
        if (state === 'Z' || !environ.includes(`QUIPU_AGENTS_CASE=${job.out}`)) return [];
        return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
      } catch {
        return []; // It has ended meanwhile.
      }
    });
}

function end(pid, signal = 'SIGKILL') {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
