import { execFileSync } from 'node:child_process';

/**
 * Three machines in networks of their own. Redis and Sentinel speak over one switch, from which a
 * machine can be cut off; clients and upstreams are reached over another one, which stays.
 */
export interface Networks {
  /** Where upstreams listen, as seen from each machine. */
  readonly hostOutside: string;
  readonly machines: readonly Machine[];
  /** Takes a machine off the switch of Redis. */
  isolate(machine: Machine): void;
  rejoin(machine: Machine): void;
  remove(): void;
}

export interface Machine {
  readonly namespace: string;
  /** For its servers of Redis. */
  readonly redisHost: string;
  /** For clients and operators. */
  readonly clientHost: string;
  /** The cable to the switch of Redis, on the side of the switch. */
  readonly cable: string;
}

const MACHINES = 3;
/** A part of 10/8 that hardly anybody uses. */
const CLIENT_NET = '10.231.71';
const REDIS_NET = '10.231.72';

const ip = (...args: readonly string[]) => void execFileSync('ip', args);

export function makeNetworks(): Networks {
  // Names of interfaces have at most fifteen letters.
  const id = process.pid.toString(36);
  const [clientSwitch, redisSwitch] = [`tgc${id}`, `tgr${id}`];
  const machines: Machine[] = [];
  const remove = () => {
    for (const { namespace } of machines) quietly('netns', 'del', namespace);
    for (const name of [clientSwitch, redisSwitch]) quietly('link', 'del', name);
  };
  try {
    for (const name of [clientSwitch, redisSwitch]) {
      ip('link', 'add', name, 'type', 'bridge');
      ip('link', 'set', name, 'up');
    }
    ip('addr', 'add', `${CLIENT_NET}.1/24`, 'dev', clientSwitch);
    for (let number = 0; number < MACHINES; number += 1) {
      const machine = {
        ...{ namespace: `tg${id}-${number}`, cable: `tgr${id}-${number}` },
        ...{ redisHost: `${REDIS_NET}.${number + 2}`, clientHost: `${CLIENT_NET}.${number + 2}` },
      };
      machines.push(machine);
      ip('netns', 'add', machine.namespace);
      ip('-n', machine.namespace, 'link', 'set', 'lo', 'up');
      plug(machine.namespace, 'clients', `tgc${id}-${number}`, clientSwitch, machine.clientHost);
      plug(machine.namespace, 'redis', machine.cable, redisSwitch, machine.redisHost);
    }
  } catch (error) {
    remove();
    throw error;
  }
  return {
    ...{ hostOutside: `${CLIENT_NET}.1`, machines, remove },
    isolate: ({ cable }) => ip('link', 'set', cable, 'down'),
    rejoin: ({ cable }) => ip('link', 'set', cable, 'up'),
  };
}

function plug(namespace: string, inside: string, cable: string, to: string, host: string): void {
  ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', inside, 'netns', namespace);
  ip('link', 'set', cable, 'master', to, 'up');
  ip('-n', namespace, 'addr', 'add', `${host}/24`, 'dev', inside);
  ip('-n', namespace, 'link', 'set', inside, 'up');
}

function quietly(...args: readonly string[]): void {
  try {
    execFileSync('ip', args, { stdio: 'ignore' });
  } catch {
    // It was not made.
  }
}
