/**
 * Reads answers of a node that may run another version: a field that is missing or has another type
 * is undefined.
 */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function timeOf(value: unknown): number | undefined {
  const ms = Date.parse(textOf(value) ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
