import type { z } from 'zod';

interface Definition {
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly element?: z.core.$ZodType;
  readonly innerType?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly out?: z.core.$ZodType;
  readonly defaultValue?: unknown;
  readonly checks?: readonly z.core.$ZodCheck[];
}

interface SchemaFacts {
  readonly path: string;
  /** Undefined for a map, whose keys have defaults of their own. */
  readonly defaultValue: unknown;
  /** The most of a number or of a list. */
  readonly max: number | undefined;
}

/** What holds for each key of a schema, and for each item of a list. */
export function listSchemaFacts(schema: z.core.$ZodType, path = ''): SchemaFacts[] {
  const definition = schema._zod.def as Definition;
  const { shape = {}, element, innerType, in: input, out, defaultValue } = definition;
  const max = findMax(definition.checks);
  return [
    ...(isMap(defaultValue) && max === undefined ? [] : [{ path, defaultValue, max }]),
    ...[element, innerType, input, out].flatMap((next) =>
      next === undefined ? [] : listSchemaFacts(next, path),
    ),
    ...Object.entries(shape).flatMap(([key, value]) =>
      listSchemaFacts(value, path === '' ? key : `${path}.${key}`),
    ),
  ];
}

function findMax(checks: Definition['checks'] = []): number | undefined {
  for (const { _zod } of checks) {
    const { check, value, maximum } = _zod.def as {
      check: string;
      value?: number;
      maximum?: number;
    };
    if (check === 'less_than') return value;
    if (check === 'max_length') return maximum;
  }
  return undefined;
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
