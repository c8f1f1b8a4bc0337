export interface FieldChange {
  readonly field: string;
  /** Null where nothing stood before. */
  readonly before: unknown;
  /** Null where nothing stands any more. */
  readonly after: unknown;
}

type Values = Readonly<Record<string, unknown>>;

/** The fields that differ, in the order of what stands there now; no value at all and null are the same. */
export function listChanges(before: object | null, after: object | null): FieldChange[] {
  const [old, now] = [(before ?? {}) as Values, (after ?? {}) as Values];
  const fields = new Set([...Object.keys(now), ...Object.keys(old)]);
  return [...fields]
    .map((field) => ({ field, before: old[field] ?? null, after: now[field] ?? null }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after));
}
