import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminSource } from '../config/source/read-admin-source.ts';
import { buildFleetView, type FleetView } from '../top/build-fleet-view.ts';
import { readFleet } from '../top/read-fleet.ts';
import { renderFleet } from '../top/render-fleet.ts';
import { createAdminClient } from './admin-client.ts';
import { CommandFailure, NodeRefusal } from './command-failure.ts';
import { followSummaries } from './follow-summaries.ts';
import { openScreen } from './terminal-screen.ts';

const RETRY_MS = 1_000;
/** Nodes report their activity once they know that somebody listens. */
const SUMMARIES_WAITED_MAX = 4;

/** A view of all nodes, once each of them has reported. */
export async function readFleetSnapshot(source: AdminSource): Promise<FleetView> {
  const leaving = new AbortController();
  try {
    let waited = 0;
    for await (const summary of followSummaries(source, leaving.signal)) {
      waited += 1;
      // The first one covers less than a second.
      if (waited === 1) continue;
      const fleet = await askFleet(source);
      const running = fleet.nodes.filter(({ state }) => state !== 'gone').length;
      if (waited > SUMMARIES_WAITED_MAX || (summary.nodes ?? 0) >= running) {
        return buildFleetView(fleet, summary);
      }
    }
    throw new CommandFailure(`${source.url} ended the stream of events`);
  } finally {
    leaving.abort();
  }
}

/** Runs until the user ends it. If the node is away for a while, it waits for the node. */
export async function watchFleet(source: AdminSource): Promise<void> {
  const first = buildFleetView(await askFleet(source), undefined);
  const screen = openScreen(process.stdout);
  const leaving = new AbortController();
  void screen.ended.then(() => leaving.abort());
  try {
    screen.show(renderFleet(first, screen.size()));
    while (!leaving.signal.aborted) {
      try {
        for await (const summary of followSummaries(source, leaving.signal)) {
          const fleet = await askFleet(source);
          if (leaving.signal.aborted) return;
          screen.show(renderFleet(buildFleetView(fleet, summary), screen.size()));
        }
      } catch (error) {
        if (!(error instanceof CommandFailure) || error instanceof NodeRefusal) throw error;
        screen.show([error.message]);
        await Promise.race([sleep(RETRY_MS), screen.ended]);
      }
    }
  } finally {
    leaving.abort();
    screen.close();
  }
}

async function askFleet(source: AdminSource) {
  return readFleet(await createAdminClient(source).call<unknown>('GET', '/cluster'));
}
