import type { SettingPath, SettingProblem } from '../setting-problem.ts';

/** A problem for each name that stands at an earlier path already. */
export function findRepeated(
  named: readonly (readonly [SettingPath, unknown])[],
  claim: string,
): SettingProblem[] {
  const seen = new Set<string>();
  const problems: SettingProblem[] = [];
  for (const [path, name] of named) {
    if (typeof name !== 'string') continue;
    if (seen.has(name)) problems.push({ path, message: `${JSON.stringify(name)} ${claim}` });
    seen.add(name);
  }
  return problems;
}
