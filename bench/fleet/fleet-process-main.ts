import { once, setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { createLog } from '../../src/log/create-log.ts';
import { openEventLog } from '../../test/proof/support/event-log.ts';
import { createRandom, type Random } from '../../test/proof/support/random.ts';
import type { FleetCommand, FleetOrder, FleetReport } from './fleet-messages.ts';
import { createZipfPick } from './fleet-world.ts';
import { askOnce, type NodeLoad, startNodeLoad } from './node-load.ts';
import { startVirtualNode, type VirtualNode } from './virtual-node.ts';

const report = (message: FleetReport) => void process.send?.(message);

interface RunningNode {
  readonly node: VirtualNode;
  readonly load: NodeLoad;
  /** Aborted when the node ends. */
  readonly ending: AbortController;
  /** What it does until then or until they are stopped. */
  readonly holds: Set<Promise<void>>;
}

/** A process with some of the nodes, which does what the bench says until it ends. */
async function runProcess(order: FleetOrder): Promise<void> {
  const { plans, world } = order;
  const events = openEventLog(order.eventsFile);
  const log = createLog('error', 'fleet');
  const random = createRandom(order.seed);
  const pick = createZipfPick(world, random);
  const nodes = new Map<string, RunningNode>();
  const refusals: Record<string, number> = {};
  const faults: string[] = [];
  let isOn = false;

  const start = async (id: string) => {
    let load: NodeLoad | undefined;
    const onCatalogue = (version: number) =>
      report({ type: 'catalogue', node: id, version, atMs: Date.now() });
    const node = await startVirtualNode({
      ...{ id, dir: order.dir, settings: order.settings, onCatalogue, log },
      readOpen: () => load?.open ?? 0,
    });
    load = startNodeLoad({
      ...{ steps: node.steps, plans, log: events, pick, random: randomOf(order.seed, id) },
      ...{ requestsPerS: order.requestsPerS, isOn: () => isOn },
      onRefused(name) {
        refusals[name] = (refusals[name] ?? 0) + 1;
      },
    });
    const ending = new AbortController();
    // Each hold waits for it.
    setMaxListeners(0, ending.signal);
    nodes.set(id, { node, load, ending, holds: new Set() });
    report({ type: 'up', node: id });
  };

  const end = async (id: string) => {
    const running = nodes.get(id);
    if (running === undefined) return;
    nodes.delete(id);
    running.ending.abort();
    await running.load.stop();
    // A node that ends first answers the requests that it has.
    await Promise.all(running.holds);
    await running.node.stop();
  };

  const hold = async (
    id: string,
    { node, ending: { signal } }: RunningNode,
    { keyId, text }: { readonly keyId: string; readonly text: string },
  ) => {
    try {
      const request = await askOnce({ steps: node.steps, plans, log: events }, { keyId, text });
      report({ type: 'holding', node: id, keyId });
      const ended = signal.aborted ? Promise.resolve() : once(signal, 'abort');
      await Promise.race([request.stopped, ended]);
      report({ type: 'stopped', node: id, keyId, atMs: Date.now(), hasEnded: signal.aborted });
      request.settle(1);
    } catch {
      report({ type: 'not_held', node: id, keyId });
    }
  };

  const holdOnAll = (key: { readonly keyId: string; readonly text: string }) => {
    for (const id of order.nodes) {
      const running = nodes.get(id);
      if (running === undefined) {
        report({ type: 'not_held', node: id, keyId: key.keyId });
        continue;
      }
      const held = hold(id, running, key);
      running.holds.add(held);
      void held.finally(() => running.holds.delete(held));
    }
  };

  const obey = async (command: FleetCommand) => {
    if (command.type === 'load') isOn = command.isOn;
    else if (command.type === 'hold') holdOnAll(command);
    else if (command.type === 'restart') {
      await end(command.node);
      await start(command.node);
    } else {
      await Promise.all(order.nodes.map(end));
      events.close();
      report({ type: 'ended', refusals, faults });
      process.disconnect();
    }
  };
  process.on('message', (command) => {
    obey(command as FleetCommand).catch((error: unknown) => faults.push(String(error)));
  });
  process.on('disconnect', () => process.exit(0));
  for (const id of order.nodes) await start(id);
}

function randomOf(seed: number, id: string): Random {
  return createRandom([...id].reduce((sum, char) => sum * 31 + char.charCodeAt(0), seed));
}

const [, , orderFile = ''] = process.argv;
await runProcess(JSON.parse(readFileSync(orderFile, 'utf8')) as FleetOrder);
