import type { Operator } from '../accounts/audit/audit-entry.ts';
import type { ReloadResult } from '../ops/reload-result.ts';
import type { NodeReload } from '../ops/schemas/cluster-schemas.ts';
import type { FleetLine } from './fleet-line.ts';
import type { MessageOf } from './fleet-messages.ts';

/** A node that has not confirmed by then that it got the message counts as silent. */
const HEARD_MAX_MS = 5_000;
/** A node that is still reloading says so before then: it replaces its workers one by one. */
const ENDED_MAX_MS = 65_000;
const HEARD_AGAIN_MS = 20_000;
/** Longer than a node with the most workers takes. */
const RELOAD_MAX_MS = 3_600_000;

type ReloadOutcome = Omit<NodeReload, 'id'>;

export interface ReloadNodesOptions {
  readonly line: Pick<FleetLine, 'publish' | 'onMessage'>;
  /** The run of this node. */
  readonly run: string;
  readonly reload: (who: Operator, waitMaxMs: number) => Promise<ReloadResult>;
  /** The clock of Redis. */
  readonly nowMs: () => number;
  readonly createAskId: () => string;
}

interface NodeToReload {
  readonly id: string;
  readonly run: string;
}

export type ReloadNodes = (
  nodes: readonly NodeToReload[],
  who: Operator,
) => Promise<readonly NodeReload[]>;

/**
 * Returns a function that reloads nodes one after the other, and stops at the first that fails. It
 * reloads this node directly and the others over the line. This node also answers when another one
 * asks it to reload.
 */
export function createReloadNodes(options: ReloadNodesOptions): ReloadNodes {
  const { run, reload } = options;
  const ask = createAsk(options);
  answerAsks(options);
  return async (nodes, who) => {
    const results: NodeReload[] = [];
    for (const node of nodes) {
      const isStopped = results.some(({ status }) => status !== 'reloaded');
      if (isStopped) results.push({ id: node.id, status: 'skipped' });
      else if (node.run !== run) results.push({ id: node.id, ...(await ask(node.run, who)) });
      else results.push({ id: node.id, ...describe(await reload(who, RELOAD_MAX_MS)) });
    }
    return results;
  };
}

function createAsk({ line, nowMs, createAskId }: ReloadNodesOptions) {
  const waiting = new Map<string, { heard(): void; ended(result: ReloadOutcome): void }>();
  line.onMessage('reload_heard', ({ ask }) => waiting.get(ask)?.heard());
  line.onMessage('reload_ended', ({ ask, ...ended }) => waiting.get(ask)?.ended(showEnd(ended)));

  return async (to: string, who: Operator): Promise<ReloadOutcome> => {
    const ask = createAskId();
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<ReloadOutcome>((resolve) => {
      const waitFor = (ms: number, problem: string) => {
        clearTimeout(timer);
        timer = setTimeout(() => resolve({ status: 'silent', problems: [problem] }), ms);
      };
      waitFor(HEARD_MAX_MS, 'it did not answer');
      waiting.set(ask, {
        heard: () => waitFor(ENDED_MAX_MS, 'it did not tell how its reload ended'),
        ended: resolve,
      });
    });
    try {
      await line.publish({ type: 'reload', ask, to, until_ms: nowMs() + HEARD_MAX_MS, who });
      return await answer;
    } catch {
      return { status: 'silent', problems: ['Redis did not take the message'] };
    } finally {
      clearTimeout(timer);
      waiting.delete(ask);
    }
  };
}

function answerAsks({ line, run, nowMs, reload }: ReloadNodesOptions): void {
  const answer = async ({ ask, who }: MessageOf<'reload'>) => {
    await line.publish({ type: 'reload_heard', ask });
    const sayAgain = () => void line.publish({ type: 'reload_heard', ask }).catch(() => {});
    const timer = setInterval(sayAgain, HEARD_AGAIN_MS);
    const result = await reload(who, RELOAD_MAX_MS).finally(() => clearInterval(timer));
    await line.publish({ type: 'reload_ended', ask, ...describe(result) });
  };
  line.onMessage('reload', (message) => {
    // A process that was stopped gets the message when nobody waits for its answer any more.
    if (message.to !== run || nowMs() > message.until_ms) return;
    // If Redis does not take the answer, the node that asks counts this one as silent.
    answer(message).catch(() => {});
  });
}

function describe(result: ReloadResult): ReloadOutcome {
  switch (result.kind) {
    case 'reloaded':
      return { status: 'reloaded', config_version: result.configVersion };
    case 'refused':
    case 'failed':
      return { status: result.kind, problems: [...result.problems] };
    case 'running':
      return { status: 'failed', problems: ['the reload still runs after an hour'] };
    case 'busy':
      return { status: 'refused', problems: ['the node starts, or too many reloads wait'] };
  }
}

function showEnd({ status, config_version, problems }: Omit<MessageOf<'reload_ended'>, 'ask'>) {
  return {
    status,
    ...(config_version !== undefined && { config_version }),
    ...(problems !== undefined && { problems }),
  };
}
