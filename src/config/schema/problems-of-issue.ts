import type { z } from 'zod';
import type { SettingProblem } from '../setting-problem.ts';

/** One issue names all unknown keys of a map. Its message has a line for each. */
export function problemsOfIssue(issue: z.core.$ZodIssue): SettingProblem[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, message: issue.message }];
  const messages = issue.message.split('\n');
  return issue.keys.map((key, index) => ({
    path: [...issue.path, key],
    message: messages[index] ?? issue.message,
  }));
}
