#!/usr/bin/env node
// Installs MCP servers that others have written, at exact versions, for the tests of plugins.
//
// Nothing fails here: what cannot be installed is named, and the tests say loudly that they are not
// run. The directory is target/agents/mcp-servers, or mcp-servers in $QUIPU_AGENTS_DIR.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { directory as agents } from './install.mjs';

export const servers = {
  '@modelcontextprotocol/server-everything': '2026.8.31',
  '@modelcontextprotocol/server-filesystem': '2026.8.31',
};

/** Where they are: what QUIPU_MCP_SERVERS_DIR is to be set to. */
export const directory = join(agents, 'mcp-servers');

/** Installs what is missing, and returns why it still is; nothing if all are there. */
export function install(say = console.error) {
  if (Object.entries(servers).every(([name, version]) => installed(name) === version)) return undefined;
  mkdirSync(directory, { recursive: true });
  if (!existsSync(join(directory, 'package.json'))) writeFileSync(join(directory, 'package.json'), '{"private":true}\n');
  const wanted = Object.entries(servers).map(([name, version]) => `${name}@${version}`);
  say(`installing ${wanted.join(', ')}`);
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1', ...wanted];
  const npm = spawnSync('npm', args, { cwd: directory, encoding: 'utf8', timeout: 300_000 });
  if (npm.error) return `npm cannot be run: ${npm.error.message}`;
  if (npm.status === 0) return undefined;
  return npm.stderr.split('\n').find((line) => line.trim()) ?? `npm ended with ${npm.status}`;
}

function installed(name) {
  const file = join(directory, 'node_modules', name, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problem = install();
  if (problem) console.error(`!! the MCP servers could not be installed: ${problem}`);
  else console.log(directory);
}
