import type { z } from 'zod';
import { OpsProblem } from './ops-problem.ts';

/** Checks input. Throws one problem that names every mistake. */
export function parseInput<Value>(schema: z.ZodType<Value>, input: unknown): Value {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((field) => ({ field, message: 'there is no such field' }));
    }
    return [{ field: issue.path.join('.'), message: issue.message }];
  });
  const problems = fields.map(({ field, message }) =>
    field === '' ? 'the body must be a JSON object' : `${field}: ${message}`,
  );
  throw new OpsProblem(400, 'invalid_request', problems.join('; '), {
    details: { fields: fields.filter(({ field }) => field !== '') },
  });
}
