import type { z } from 'zod';
import { OpsProblem } from './ops-problem.ts';

/** Throws one problem that names all there are. */
export function parseInput<Value>(schema: z.ZodType<Value>, input: unknown): Value {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => `${key}: there is no such field`);
    }
    if (issue.path.length === 0) return ['the body must be a JSON object'];
    return [`${issue.path.join('.')}: ${issue.message}`];
  });
  throw new OpsProblem(400, 'invalid_request', problems.join('; '));
}
