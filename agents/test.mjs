#!/usr/bin/env node
// Runs every agent that installs in every scenario through `quipu run`, and compares the transcripts with
// what was scripted. See README.md.

import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { install } from './install.mjs';
import { runCase } from './test/case.mjs';
import { check } from './test/checks.mjs';
import { clients } from './test/clients.mjs';
import { findIsolation } from './test/isolate.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const { values } = parseArgs({
  options: {
    cli: { type: 'string' },
    scenario: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    keep: { type: 'boolean', default: false },
  },
});

const everyScenario = readdirSync(join(here, 'scenarios')).map((file) => file.replace(/\.json$/, ''));
const wantedClis = chosen(values.cli, Object.keys(clients), 'agent');
const scenarios = chosen(values.scenario, everyScenario, 'scenario');
const quipu = resolve(process.env.QUIPU_BIN ?? join(here, '..', 'target', 'debug', 'quipu'));
if (!existsSync(quipu)) fail(`there is no ${quipu}: build it with cargo build -p quipu-cli, or set QUIPU_BIN`);

const missing = install(wantedClis);
const clis = wantedClis.filter((cli) => !missing.has(cli));
const isolation = findIsolation();
if (!isolation) banner(['NOT ISOLATED: no network namespace can be made here.', 'The agents keep to loopback only because they are told to.']);

const started = Date.now();
const results = await runAll(clis.flatMap((cli) => scenarios.map((scenario) => ({ cli, scenario }))));
if (clis.length) printTable(results);
finish(results);

function chosen(list, all, what) {
  if (list === undefined) return all;
  const names = list.split(',').filter(Boolean);
  const strange = names.filter((name) => !all.includes(name));
  if (strange.length) fail(`there is no ${what} ${strange.join(', ')}: there are ${all.join(', ')}`);
  return names;
}

/** Runs the cases, a few at a time, and tells of each as it ends. */
async function runAll(cases) {
  const waiting = [...cases];
  const done = [];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) done.push(await runOne(next));
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, worker));
  return done;
}

async function runOne({ cli, scenario }) {
  const facts = await runCase(cli, scenario, { quipu, isolation });
  const problems = check(facts);
  const seconds = facts.outcome ? `${facts.outcome.seconds.toFixed(1)} s` : '';
  console.log(`${problems.length ? 'FAIL' : 'ok  '} ${cli} ${scenario} ${seconds}`);
  for (const problem of problems) console.log(`     ${problem}`);
  if (problems.length || values.keep) console.log(`     see ${facts.out}`);
  else facts.discard();
  return { cli, scenario, isFine: problems.length === 0 };
}

function printTable(done) {
  const widths = clis.map((cli) => Math.max(cli.length, 4));
  const first = Math.max(...scenarios.map((name) => name.length));
  const row = (name, cells) => `${name.padEnd(first)}  ${cells.map((cell, i) => cell.padEnd(widths[i])).join('  ')}`;
  console.log(`\n${row('', clis)}`);
  for (const scenario of scenarios) {
    const cells = clis.map((cli) => done.find((one) => one.cli === cli && one.scenario === scenario));
    console.log(row(scenario, cells.map((one) => (one.isFine ? 'ok' : 'FAIL'))));
  }
}

function finish(done) {
  const failed = done.filter((one) => !one.isFine).length;
  const seconds = Math.round((Date.now() - started) / 1000);
  console.log(`\n${done.length - failed} of ${done.length} cases are fine, in ${seconds} s`);
  if (missing.size) {
    const lines = [...missing].map(([cli, problem]) => `SKIPPED: ${cli} was not tested, because it could not be installed: ${problem}`);
    banner(lines);
  }
  process.exit(failed || (missing.size && process.env.QUIPU_AGENTS_REQUIRED === '1') ? 1 : 0);
}

function banner(lines) {
  const bar = '!'.repeat(Math.max(...lines.map((line) => line.length)) + 6);
  console.log([bar, ...lines.map((line) => `!! ${line}`), bar].join('\n'));
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
