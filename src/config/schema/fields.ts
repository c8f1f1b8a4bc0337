export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Empty for what has not the shape. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}
