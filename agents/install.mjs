#!/usr/bin/env node
// Installs the agents, each into a directory of its own, at the exact versions of versions.json.
//
// Nothing fails here: an agent that cannot be installed is named, and its test says loudly that it is
// not run. The directory is target/agents, or $QUIPU_AGENTS_DIR.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));

export const versions = JSON.parse(readFileSync(join(here, 'versions.json'), 'utf8'));

export const directory = process.env.QUIPU_AGENTS_DIR ?? join(here, '..', 'target', 'agents');

/** Returns where an agent's program is, whether or not it is there. */
export function programOf(cli) {
  return join(directory, cli, 'node_modules', '.bin', cli);
}

const NO_NETWORK = /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT/;

/** Installs what is missing of `clis`, and returns why those that are missing still are. */
export function install(clis, say = console.error) {
  const missing = new Map();
  let unreachable;
  for (const cli of clis.filter((name) => !isInstalled(name))) {
    if (!unreachable) say(`installing ${versions[cli]}`);
    const problem = unreachable ?? add(cli);
    // Where there is no network for one there is none for the others: each would take its time to fail.
    if (problem && NO_NETWORK.test(problem)) unreachable = problem;
    if (problem) missing.set(cli, problem);
  }
  return missing;
}

function isInstalled(cli) {
  // The lock file tells what is really there; another version is installed over it.
  const lock = join(directory, cli, 'node_modules', '.package-lock.json');
  if (!existsSync(programOf(cli)) || !existsSync(lock)) return false;
  const at = versions[cli].lastIndexOf('@');
  const { packages } = JSON.parse(readFileSync(lock, 'utf8'));
  return packages?.[`node_modules/${versions[cli].slice(0, at)}`]?.version === versions[cli].slice(at + 1);
}

function add(cli) {
  const into = join(directory, cli);
  mkdirSync(into, { recursive: true });
  if (!existsSync(join(into, 'package.json'))) writeFileSync(join(into, 'package.json'), '{"private":true}\n');
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1', versions[cli]];
  const npm = spawnSync('npm', args, { cwd: into, encoding: 'utf8', timeout: 300_000 });
  if (npm.error) return `npm cannot be run: ${npm.error.message}`;
  if (npm.status === 0 && existsSync(programOf(cli))) return undefined;
  const lines = npm.stderr.trim().split('\n');
  const told = lines.find((line) => line.trim());
  if (told && NO_NETWORK.test(told)) return `npm cannot be reached: ${told}`;
  return told ?? `npm ended with ${npm.status}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const missing = install(Object.keys(versions));
  for (const [cli, problem] of missing) console.error(`!! ${cli} could not be installed: ${problem}`);
  console.error(`${Object.keys(versions).length - missing.size} of ${Object.keys(versions).length} agents are in ${directory}`);
}
