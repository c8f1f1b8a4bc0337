import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetReport } from './fleet-messages.ts';
import type { FleetProcesses } from './fleet-processes.ts';
import type { VirtualNode } from './virtual-node.ts';

const HOLD_MAX_MS = 30_000;
const HEARD_MAX_MS = 90_000;
const POLL_MS = 20;
const CREDIT_MICROS = 1_000_000_000;

/** How long after a change each node had acted on it. */
export interface Spread {
  readonly delaysMs: readonly number[];
  /** How long the operator waited for an answer. */
  readonly answeredMs: number;
  /** Nodes that never did. */
  readonly missing: readonly string[];
}

type Operator = Pick<VirtualNode, 'directory' | 'catalogue'>;
type Stopped = Extract<FleetReport, { type: 'stopped' }>;

/** Changes one thing after the other, and notes when each node knows. */
export function createChangeMeter(operator: Operator, processes: FleetProcesses) {
  const stopped = new Map<string, Map<string, Stopped>>();
  const holding = new Map<string, Set<string>>();
  const answered = new Map<string, Set<string>>();
  const sold: Extract<FleetReport, { type: 'catalogue' }>[] = [];
  const startedMs = new Map<string, number>();
  processes.onReport((report) => {
    const { node } = 'node' in report ? report : { node: '' };
    if (report.type === 'holding') holding.get(report.keyId)?.add(node);
    if (report.type === 'stopped') stopped.get(report.keyId)?.set(node, report);
    if (report.type === 'catalogue') sold.push(report);
    if (report.type === 'up') startedMs.set(node, Date.now());
    if ('keyId' in report) answered.get(report.keyId)?.add(node);
  });

  return {
    /** Until each node has stopped a request with the key. */
    async revoke(): Promise<Spread> {
      const { directory } = operator;
      const account = await directory.createAccount({ name: 'changes', plan: 'team' });
      const { key: text, record } = await directory.createKey(account.id, {});
      const payment = { micros: CREDIT_MICROS, id: 'first', note: '' };
      await directory.addCredits(account.id, payment);
      const { id: keyId } = record;
      const ends = new Map<string, Stopped>();
      const holders = new Set<string>();
      stopped.set(keyId, ends);
      holding.set(keyId, holders);
      const asked = new Set<string>();
      answered.set(keyId, asked);
      processes.tell({ type: 'hold', keyId, text });
      await waitFor(() => asked.size >= processes.nodes.length, HOLD_MAX_MS);
      const changedMs = Date.now();
      await directory.revokeKey(keyId);
      const answeredMs = Date.now() - changedMs;
      await waitFor(() => [...holders].every((node) => ends.has(node)), HEARD_MAX_MS);
      return {
        delaysMs: [...ends.values()]
          .filter(({ hasEnded }) => !hasEnded)
          .map(({ atMs }) => atMs - changedMs),
        answeredMs,
        missing: [...holders].filter((node) => !ends.has(node)),
      };
    },
    /** Until each node sells by another price. */
    async changeCatalogue(): Promise<Spread> {
      const { catalogue } = operator;
      const { last, document } = await catalogue.read();
      const [first, ...others] = document.models;
      if (first === undefined) throw new Error('the catalogue has a model');
      const price = { ...first.price, input: (first.price.input ?? 1) + 1 };
      const models = [{ ...first, price }, ...others];
      const changedMs = Date.now();
      const { version } = await catalogue.apply({
        ...{ baseVersion: last?.version ?? 0, document: { ...document, models } },
        ...{ fromMs: undefined, who: { via: 'api', token: null, address: null, operator: null } },
      });
      const answeredMs = Date.now() - changedMs;
      const hasHeard = (node: string) =>
        (startedMs.get(node) ?? 0) > changedMs ||
        sold.some((report) => report.node === node && report.version >= version);
      await waitFor(() => processes.nodes.every(hasHeard), HEARD_MAX_MS);
      const heard = sold.filter((report) => report.version === version);
      return {
        delaysMs: heard.map(({ atMs }) => atMs - changedMs),
        answeredMs,
        missing: processes.nodes.filter((node) => !hasHeard(node)),
      };
    },
  };
}

export type ChangeMeter = ReturnType<typeof createChangeMeter>;

async function waitFor(condition: () => boolean, timeMaxMs: number): Promise<void> {
  const deadline = performance.now() + timeMaxMs;
  while (!condition() && performance.now() < deadline) await sleep(POLL_MS);
}
