import type { Schema } from '../schema.ts';

/** How clients that know no `null` say that a field is unset. */
export const UNSET = -1;

export function orUnset(schema: Schema): Schema {
  return {
    json: schema.json,
    check: (value) => (value === UNSET ? undefined : schema.check(value)),
  };
}

export function unlessUnset(value: number | null | undefined): number | undefined {
  return value === UNSET ? undefined : (value ?? undefined);
}
