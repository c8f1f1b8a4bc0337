import type { SeenCommand } from '../../test/support/servers/watch-commands.ts';

/**
 * Work on buckets is done once for all nodes, by whichever has its turn; all else each node does
 * for itself.
 */
export function isShared({ subject }: Pick<SeenCommand, 'subject'>): boolean {
  return (
    /^gw:\{[^}]+\}:(holds|leases|ledger|accounts)$/.test(subject) || subject === 'gw:{a}:audit'
  );
}

/** What somebody waits for, by command and connection. */
const AWAITED: ReadonlyMap<string, string> = new Map([
  ['evalsha worker-admit', 'admissions and settlements'],
  ['evalsha worker', 'renewals'],
  ['evalsha primary-accounts', 'changes by operators'],
  ['evalsha primary-replicas', 'changes by operators'],
  ['role primary-replicas', 'changes by operators'],
  ['wait primary-replicas', 'changes by operators'],
]);

/** What a command is for, as a person would say it. */
export function purposeOf({ name, subject, connection }: SeenCommand): string {
  if (/:(holds|leases)$/.test(subject)) return name === 'exists' ? 'looks before sweeps' : 'sweeps';
  if (name === 'xlen') return 'counts of the entries';
  if (name === 'xtrim') return 'trimming of the ledgers';
  if (/:ledger$/.test(subject) || subject === 'gw:{a}:audit') return 'reading of the ledgers';
  if (/:accounts$/.test(subject)) return 'names for the books';
  if (/:probe$/.test(subject)) return 'probes of the store';
  if (name === 'info') return subject === 'memory' ? 'memory of Redis' : 'watch of the masters';
  // The client asks for it over a connection that it opens each time.
  if (connection === 'ended') return 'layout of the Cluster';
  if (subject.startsWith('gw:{c}:')) return 'looks at the catalogue';
  if (subject.startsWith('gw:{s}:')) return 'shares of the sweeps';
  if (subject.startsWith('gw:{f}:')) return 'beats';
  if (subject.startsWith('gw:fleet-echo:')) return 'echoes of the line';
  if (/^gw:\{x\}:books-(counter|waiting)/.test(subject)) return 'shares of the counts';
  if (subject.startsWith('gw:{x}:')) return 'lease of the books';
  return AWAITED.get(`${name} ${connection}`) ?? `${name} (${connection})`;
}
