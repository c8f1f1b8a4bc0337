import type { z } from 'zod';

/** The parts of a schema that lead to other schemas. */
interface Definition {
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly element?: z.core.$ZodType;
  readonly innerType?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
}

/** Every key that a schema has, as a path such as `upstreams.timeouts.idle`. A map of names is one. */
export function listSchemaPaths(schema: z.core.$ZodType, path: readonly string[] = []): string[] {
  const { shape, element, innerType, in: input } = schema._zod.def as Definition;
  const next = element ?? innerType ?? input;
  if (next !== undefined) return listSchemaPaths(next, path);
  if (shape === undefined) return [path.join('.')];
  return Object.entries(shape).flatMap(([key, value]) => listSchemaPaths(value, [...path, key]));
}

/** Whether a value is at this path. Of a list, one item that has it is enough. */
export function isShown(value: unknown, path: string): boolean {
  if (Array.isArray(value) && path !== '') return value.some((item) => isShown(item, path));
  if (path === '') return value !== undefined;
  if (typeof value !== 'object' || value === null) return false;
  const [key = '', ...rest] = path.split('.');
  return isShown((value as Readonly<Record<string, unknown>>)[key], rest.join('.'));
}
