export interface FieldChange {
  readonly field: string;
  /** Null if the field had no value before. */
  readonly before: unknown;
  /** Null if the field has no value any more. */
  readonly after: unknown;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * The fields that differ, in the order of the new values. An absent value and null are the same.
 * The version differs after each change, so it is left out.
 */
export function listChanges(before: object | null, after: object | null): FieldChange[] {
  const [old, now] = [(before ?? {}) as Values, (after ?? {}) as Values];
  const fields = new Set([...Object.keys(now), ...Object.keys(old)]);
  return [...fields]
    .filter((field) => field !== 'version')
    .map((field) => ({ field, before: old[field] ?? null, after: now[field] ?? null }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after));
}
