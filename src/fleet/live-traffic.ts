import type { EventHub } from '../ops/event-hub.ts';
import { LIFE_MS } from './beat.ts';
import { type PackedTraffic, showTraffic } from './traffic.ts';

interface LiveTraffic {
  /** Takes what a node did since it was heard last. */
  add(node: string, traffic: PackedTraffic, nowMs: number): void;
  /** Publishes what was told since the last call, of all nodes together and of each by itself. */
  publish(nowMs: number): void;
}

interface NodeTraffic {
  told: PackedTraffic[];
  heardMs: number;
  open: number;
}

/** Of a node that tells nothing for a moment, the open requests still count. */
export function createLiveTraffic(
  hub: Pick<EventHub, 'publish' | 'hasSubscribers' | 'isWatched'>,
): LiveTraffic {
  const nodes = new Map<string, NodeTraffic>();

  const show = (parts: readonly NodeTraffic[], node: string | null) => {
    const sum = showTraffic(parts.flatMap(({ told }) => told));
    const open = parts.reduce((total, part) => total + part.open, 0);
    hub.publish({ type: 'summary', node, data: { nodes: parts.length, ...sum, open } });
  };

  return {
    add(node, traffic, nowMs) {
      const known = nodes.get(node);
      const told = [...(known?.told ?? []), traffic];
      nodes.set(node, { told, heardMs: nowMs, open: traffic.open });
    },
    publish(nowMs) {
      for (const [node, { heardMs }] of nodes) if (nowMs - heardMs >= LIFE_MS) nodes.delete(node);
      if (hub.hasSubscribers()) {
        show([...nodes.values()], null);
        for (const [node, part] of nodes) if (hub.isWatched(node)) show([part], node);
      }
      for (const part of nodes.values()) part.told = [];
    },
  };
}
