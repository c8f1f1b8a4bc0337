import type { RedisTarget } from '../../lib/address/redis-target.ts';
import { type Finding, failCheck, passCheck, skipCheck, warnCheck } from '../finding.ts';
import type { ServerFacts } from './server-facts.ts';

const LAG_SECONDS_MAX = 5;
const BEHIND_BYTES_MAX = 1024 ** 2;

interface Replica {
  readonly name: string;
  readonly state: string;
  readonly lagSeconds: number;
  readonly behindBytes: number;
}

export function judgeReplicas(
  { info, config }: ServerFacts,
  topology: RedisTarget['topology'],
): Finding {
  if (info === undefined) return skipCheck('unknown: the user may not run INFO; grant +info');
  const replicas = readReplicas(info);
  const neededCount = Number(config?.get('min-replicas-to-write') ?? 0);
  if (replicas.length < neededCount) {
    return failCheck(
      `${replicas.length} connected, and writes need ${neededCount}`,
      'Start the missing replicas: until then every request is refused.',
    );
  }
  if (replicas.length === 0) {
    return topology === 'standalone'
      ? passCheck('none: one server alone')
      : warnCheck('none is connected', 'Start a replica: now there is nothing to fail over to.');
  }
  const slow = replicas.filter(isBehind);
  return slow.length === 0
    ? passCheck(`${replicas.length} connected`)
    : warnCheck(
        slow.map(describeReplica).join('; '),
        'Look at the replica and its network: a failover to it would lose what it has not yet got.',
      );
}

function readReplicas(info: ReadonlyMap<string, string>): Replica[] {
  const writtenBytes = Number(info.get('master_repl_offset') ?? 0);
  const replicas: Replica[] = [];
  for (const [name, text] of info) {
    if (!/^slave\d+$/.test(name)) continue;
    const fields = new Map(text.split(',').map((pair) => pair.split('=') as [string, string]));
    replicas.push({
      name: `${fields.get('ip')}:${fields.get('port')}`,
      state: fields.get('state') ?? 'unknown',
      lagSeconds: Number(fields.get('lag') ?? 0),
      behindBytes: writtenBytes - Number(fields.get('offset') ?? 0),
    });
  }
  return replicas;
}

function isBehind({ state, lagSeconds, behindBytes }: Replica): boolean {
  return state !== 'online' || lagSeconds > LAG_SECONDS_MAX || behindBytes > BEHIND_BYTES_MAX;
}

function describeReplica({ name, state, lagSeconds, behindBytes }: Replica): string {
  return state === 'online'
    ? `${name} is ${behindBytes} bytes behind and was last heard ${lagSeconds} s ago`
    : `${name} is not yet in step (${state})`;
}
