// A network namespace with nothing but loopback, so that no agent can reach anything else.

import { spawnSync } from 'node:child_process';

const LOOPBACK = 'ip link set lo up || ifconfig lo up';

/** As root, or as root of a user namespace of its own. */
const WAYS = [
  ['unshare', '--net', '--pid', '--fork', '--kill-child=KILL', '--mount-proc'],
  ['unshare', '--map-root-user', '--net', '--pid', '--fork', '--kill-child=KILL', '--mount-proc'],
];

/** Returns the words to put before a command so that it runs alone, or nothing where that is not possible. */
export function findIsolation() {
  return WAYS.map(wrapped).find((words) => spawnSync(words[0], [...words.slice(1), 'true']).status === 0);
}

function wrapped(way) {
  return [...way, 'sh', '-c', `{ ${LOOPBACK}; } >/dev/null 2>&1 || exit 1; "$@"`, 'sh'];
}
