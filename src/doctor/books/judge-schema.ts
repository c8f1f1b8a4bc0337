import { MIGRATIONS } from '../../books/engine/migrations.ts';
import { type Finding, passCheck, warnCheck } from '../finding.ts';

const KNOWN = MIGRATIONS.map(({ number }) => number);

/** `applied` is undefined if the books are empty. */
export function judgeSchema(applied: readonly number[] | undefined): Finding {
  if (applied === undefined) return passCheck('there are no tables yet; the first node makes them');
  const newer = applied.filter((number) => !KNOWN.includes(number));
  if (newer.length > 0) {
    return warnCheck(
      `version ${Math.max(...newer)}, of a newer tollgate; this one knows ${Math.max(...KNOWN)}`,
      'Finish the upgrade of all nodes, or roll all of them back.',
    );
  }
  const isOld = KNOWN.some((number) => !applied.includes(number));
  return isOld
    ? passCheck(`version ${Math.max(0, ...applied)}; the next start brings it up to date`)
    : passCheck(`version ${Math.max(...KNOWN)}`);
}
