import { isObject } from '../../protocol/schema.ts';

export type RawFields = Readonly<Record<string, unknown>>;

/** Empty if the value is not a map. */
export function fieldsOf(value: unknown): RawFields {
  return isObject(value) ? value : {};
}

export type Item = readonly [index: number, item: RawFields];

export function valuesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function itemsOf(value: unknown): Item[] {
  return valuesOf(value).map((item, index) => [index, fieldsOf(item)]);
}

/** Returns NaN, which is neither greater nor less than any number, if the value is not a number. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' || (typeof value === 'string' && /^\d/.test(value))
    ? Number(value)
    : Number.NaN;
}
