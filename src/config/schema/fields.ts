export type RawFields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is RawFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Empty if the value is not a map. */
export function fieldsOf(value: unknown): RawFields {
  return isFields(value) ? value : {};
}
