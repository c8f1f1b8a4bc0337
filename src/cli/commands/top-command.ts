import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { type AdminSource, readAdminSource } from '../../config/source/read-admin-source.ts';
import { buildView, type Scrape, type TopView } from '../../top/build-view.ts';
import { renderFleet } from '../../top/render-fleet.ts';
import type { ScreenSize } from '../../top/render-parts.ts';
import { renderView } from '../../top/render-view.ts';
import { type AdminOptions, type CommandHost, withAdminOptions } from '../admin-command.ts';
import { CommandFailure, NodeRefusal } from '../command-failure.ts';
import { scrapeNode } from '../scrape-node.ts';
import { openScreen } from '../terminal-screen.ts';
import { readFleetSnapshot, watchFleet } from '../watch-fleet.ts';

const REFRESH_MS = 1_000;
/** The size of a snapshot, which no terminal bounds. */
const PLAIN_SIZE: ScreenSize = { columns: 200, rows: 1_000 };

type ReadScrape = () => Promise<Scrape>;

interface TopOptions extends AdminOptions {
  readonly all?: boolean;
}

export function registerTopCommand(program: Command, { terminal, setExitCode }: CommandHost): void {
  withAdminOptions(program.command('top'))
    .description('watch a node: requests, latency, Redis, upstreams, workers')
    .option('--all', 'watch all nodes together')
    .action(async ({ url, dataDir, json, all }: TopOptions) => {
      const subject = all === true ? showFleet : showNode;
      const source = () => readAdminSource({ url, dataDir });
      try {
        if (json !== true && process.stdout.isTTY) return await subject.watch(source);
        const { view, lines } = await subject.readOnce(source);
        terminal.out(json === true ? JSON.stringify(view, undefined, 2) : lines.join('\n'));
      } catch (error) {
        if (!(error instanceof CommandFailure)) throw error;
        terminal.err(`tollgate: ${error.message}`);
        setExitCode(1);
      }
    });
}

interface TopSubject {
  watch(source: () => AdminSource): Promise<void>;
  readOnce(source: () => AdminSource): Promise<{ view: object; lines: string[] }>;
}

const showNode: TopSubject = {
  watch: (source) => watch(() => scrapeNode(source())),
  async readOnce(source) {
    const view = await readSnapshot(() => scrapeNode(source()));
    return { view, lines: renderView(view, PLAIN_SIZE) };
  },
};

const showFleet: TopSubject = {
  watch: (source) => watchFleet(source()),
  async readOnce(source) {
    const view = await readFleetSnapshot(source());
    return { view, lines: renderFleet(view, PLAIN_SIZE) };
  },
};

/** Rates need two scrapes. */
async function readSnapshot(read: ReadScrape): Promise<TopView> {
  const before = await read();
  await sleep(REFRESH_MS);
  return buildView(before, await read());
}

/**
 * Runs until the user ends it. If the node is away for a while, as in a restart, it waits for the
 * node.
 */
async function watch(read: ReadScrape): Promise<void> {
  let before = await read();
  const screen = openScreen(process.stdout);
  try {
    let isEnding = false;
    void screen.ended.then(() => {
      isEnding = true;
    });
    screen.show(renderView(buildView(undefined, before), screen.size()));
    for (;;) {
      await Promise.race([sleep(REFRESH_MS), screen.ended]);
      if (isEnding) return;
      try {
        const after = await Promise.race([read(), screen.ended]);
        if (after === undefined) return;
        screen.show(renderView(buildView(before, after), screen.size()));
        before = after;
      } catch (error) {
        if (!(error instanceof CommandFailure) || error instanceof NodeRefusal) throw error;
        screen.show([error.message]);
      }
    }
  } finally {
    screen.close();
  }
}
