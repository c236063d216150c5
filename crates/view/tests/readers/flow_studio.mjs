// Reads a run in Flow Studio's layout over HTTP, and prints what it found as JSON.
//
// Arguments: the server's address, the run, and a list of [flow, step, agent, engine] as JSON.

const [base, run, steps] = process.argv.slice(2);

async function get(path) {
  const response = await fetch(new URL(path, base));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.text();
}

const found = [];
for (const [flow, step, agent, engine] of JSON.parse(steps)) {
  const receipt = JSON.parse(await get(`/api/runs/${run}/receipt/${flow}/${step}/${agent}`));
  const text = await get(`/api/runs/${run}/transcript/${flow}/${step}/${agent}/${engine}`);
  const lines = text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  for (const line of lines) {
    if (Number.isNaN(Date.parse(line.timestamp))) throw new Error(line.timestamp);
  }
  const shown = lines.map((line) =>
    line.role === 'tool'
      ? ['tool', line.tool_name, line.content ?? line.tool_output ?? null]
      : [line.role, line.content],
  );
  found.push([receipt.step_id, receipt.agent_key, receipt.status, shown]);
}
console.log(JSON.stringify(found));
