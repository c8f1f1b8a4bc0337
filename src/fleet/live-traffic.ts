import type { EventHub } from '../ops/event-hub.ts';
import { LIFE_MS } from './beat.ts';
import { type PackedTraffic, showTraffic } from './traffic.ts';

interface LiveTraffic {
  /** Takes what a node did since its last report. */
  add(node: string, traffic: PackedTraffic, nowMs: number): void;
  /** Publishes what was reported since the last call, for all nodes together and for each one. */
  publish(nowMs: number): void;
}

interface NodeTraffic {
  reports: PackedTraffic[];
  heardMs: number;
  open: number;
}

/** The open requests of a node that reports nothing for a moment still count. */
export function createLiveTraffic(
  hub: Pick<EventHub, 'publish' | 'hasSubscribers' | 'isWatched'>,
): LiveTraffic {
  const nodes = new Map<string, NodeTraffic>();

  const show = (parts: readonly NodeTraffic[], node: string | null) => {
    const sum = showTraffic(parts.flatMap(({ reports }) => reports));
    const open = parts.reduce((total, part) => total + part.open, 0);
    hub.publish({ type: 'summary', node, data: { nodes: parts.length, ...sum, open } });
  };

  return {
    add(node, traffic, nowMs) {
      const known = nodes.get(node);
      const reports = [...(known?.reports ?? []), traffic];
      nodes.set(node, { reports, heardMs: nowMs, open: traffic.open });
    },
    publish(nowMs) {
      for (const [node, { heardMs }] of nodes) if (nowMs - heardMs >= LIFE_MS) nodes.delete(node);
      if (hub.hasSubscribers()) {
        show([...nodes.values()], null);
        for (const [node, part] of nodes) if (hub.isWatched(node)) show([part], node);
      }
      for (const part of nodes.values()) part.reports = [];
    },
  };
}
