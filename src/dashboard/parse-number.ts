import { ApiProblem } from './api/api-problem.ts';

/** Reads typed text as a number; an empty text is undefined. Throws a problem of the field. */
export function parseNumber(text: string, field: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const number = /^[+-]?\d+(\.\d*)?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (Number.isFinite(number)) return number;
  const message = `${trimmed} is not a number such as 25 or 0.5`;
  throw new ApiProblem(`${field}: ${message}`, {
    status: 0,
    code: 'invalid_request',
    fields: [{ field, message }],
  });
}
