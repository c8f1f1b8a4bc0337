import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer as Head } from '../../../bench/soak/run-client.ts';
import { pickOne, type SoakKey } from '../../../bench/soak/world.ts';
import { type Asked, ask } from './ask.ts';
import type { FaultNode } from './start-node.ts';

const TICK_MS = 20;
const STREAM_SHARE = 0.7;
/** What clients of one site have open at once, at most; above it, none is sent. */
const OPEN_MAX = 2_000;

export interface Load {
  /** Every request that has ended. */
  readonly asked: readonly Asked[];
  openCount(): number;
  /** Sends no more, and waits until every request has ended. */
  stop(): Promise<void>;
}

interface LoadOptions {
  readonly nodes: readonly FaultNode[];
  readonly keys: readonly SoakKey[];
  readonly requestsPerS: number;
  readonly onHead: (head: Head) => void;
}

/** Sends so many requests a second, however long they take, to the nodes that are wanted. */
export function runLoad({ nodes, keys, requestsPerS, onHead }: LoadOptions): Load {
  const asked: Asked[] = [];
  const open = new Set<Promise<void>>();
  let isOver = false;

  const send = (node: FaultNode) => {
    const request = { url: node.url, key: pickOne(keys), isStream: Math.random() < STREAM_SHARE };
    const sending = ask({ ...request, onHead }).then((end) => {
      asked.push(end);
      open.delete(sending);
    });
    open.add(sending);
  };
  const sendAll = async () => {
    let dueMs = performance.now();
    while (!isOver) {
      // After a pause of this process it goes on from here: no burst makes up for it.
      dueMs = Math.max(dueMs, performance.now() - TICK_MS);
      while (dueMs <= performance.now()) {
        dueMs += 1_000 / requestsPerS;
        const wanted = nodes.filter(({ isWanted }) => isWanted);
        if (wanted.length > 0 && open.size < OPEN_MAX) send(pickOne(wanted));
      }
      await sleep(TICK_MS);
    }
  };
  const sending = sendAll();
  return {
    asked,
    openCount: () => open.size,
    async stop() {
      isOver = true;
      await sending;
      await Promise.all(open);
    },
  };
}
