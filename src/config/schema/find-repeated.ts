import type { SettingPath, SettingProblem } from '../setting-problem.ts';

/** Returns a problem for each name that already occurs at an earlier path. */
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
