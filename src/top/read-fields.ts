/**
 * Reads answers of a node that may run another version: a field that is missing or has another type
 * is undefined.
 */
export type UnknownFields = Readonly<Record<string, unknown>>;

export function toFields(value: unknown): UnknownFields {
  return typeof value === 'object' && value !== null ? (value as UnknownFields) : {};
}

export function toFieldsList(value: unknown): UnknownFields[] {
  return Array.isArray(value) ? value.map(toFields) : [];
}

export function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function toTimeMs(value: unknown): number | undefined {
  const ms = Date.parse(toText(value) ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
