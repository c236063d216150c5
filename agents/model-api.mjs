#!/usr/bin/env node
// The scripted model API as a program of its own, for trying a client by hand:
//
//   node agents/model-api.mjs --scenario agents/scenarios/shell.json --port 8411 --log /tmp/log.jsonl

import { parseArgs } from 'node:util';

import { Scenario } from './api/scenario.mjs';
import { serve } from './api/server.mjs';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string' },
    port: { type: 'string', default: '0' },
    cwd: { type: 'string', default: process.cwd() },
    log: { type: 'string' },
  },
});
if (!values.scenario) {
  console.error('usage: model-api.mjs --scenario FILE [--port N] [--cwd DIR] [--log FILE]');
  process.exit(2);
}
const { url } = await serve(Scenario.read(values.scenario, values.cwd), { port: Number(values.port), log: values.log });
console.error(`model-api: ${url}, scenario ${values.scenario}`);
