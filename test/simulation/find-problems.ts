import { UNSETTLED_FILE } from '../../src/quota/journal/unsettled-file.ts';
import { readBooks, type SimulatedBooks } from './keep-books.ts';
import type { World } from './run-schedule.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import { JOURNAL_DIR } from './simulated-node.ts';
import type { LedgerLine } from './simulated-store.ts';

type ChargedLine = Pick<LedgerLine, 'requestId' | 'kind' | 'charged'>;

/** What is wrong at the end, when everything is well again and nothing waits. */
export async function findProblems(world: World): Promise<string[]> {
  const { store, books } = world;
  if (books === undefined) return [...findInNode(world), ...findInCharges(world, store.ledger())];
  const { entries, problems } = await findInBooks(world, books);
  // What was trimmed is in the books alone.
  return [...findInNode(world), ...problems, ...findInCharges(world, entries)];
}

function findInNode({ store, node, disk }: World): string[] {
  const problems = [...node.problems];
  if (node.depth() > 0) problems.push(`${node.depth()} settlements still wait`);
  if (store.openHolds() > 0) problems.push(`${store.openHolds()} holds are left`);
  const segments = disk.list().filter((path) => path.endsWith('.log'));
  for (const path of segments) {
    problems.push(`${path} is left, with ${disk.read(path).length} characters`);
  }
  return problems;
}

async function findInBooks({ store }: World, books: SimulatedBooks) {
  const { entries, problems } = await readBooks(books);
  if (!books.isCaughtUp()) problems.push('the books are not caught up');
  const places = new Set(entries.map(({ place }) => place));
  for (const { ms, seq, requestId, kind } of store.ledger()) {
    if (!places.has(`${ms}-${seq}`)) problems.push(`the books lack the ${kind} of ${requestId}`);
  }
  return { entries, problems };
}

function findInCharges(
  { store, node, disk, settlements }: World,
  lines: readonly ChargedLine[],
): string[] {
  const problems: string[] = [];
  const charged = new Map<string, number>();
  for (const line of lines) {
    charged.set(line.requestId, (charged.get(line.requestId) ?? 0) + line.charged);
  }
  const givenUp = readGivenUp(disk);
  for (const { requestId, actualMicros } of settlements) {
    const sum = charged.get(requestId) ?? 0;
    // A hold whose worker is lost is charged by the sweep, by what was seen.
    const mayLack =
      givenUp.has(requestId) ||
      (node.ofDead.has(requestId) &&
        (store.undone.has(requestId) || !node.journalled.has(requestId)));
    if (sum === actualMicros || (sum < actualMicros && mayLack)) continue;
    const told = lines
      .filter((line) => line.requestId === requestId)
      .map((line) => `${line.kind} ${line.charged}`);
    problems.push(`${requestId} cost ${actualMicros} and was charged ${sum} (${told})`);
  }
  return problems;
}

function readGivenUp(disk: SimulatedDisk): Set<string> {
  const path = `${JOURNAL_DIR}/${UNSETTLED_FILE}`;
  if (!disk.list().includes(path)) return new Set();
  const lines = disk.read(path).split('\n').filter(Boolean);
  return new Set(lines.map((line) => (JSON.parse(line) as { requestId: string }).requestId));
}
