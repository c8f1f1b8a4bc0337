export interface Change {
  readonly field: string;
  /** Absent where nothing stood before. */
  readonly before?: string;
  /** Absent where nothing stands any more. */
  readonly after?: string;
}

type Values = Readonly<Record<string, unknown>>;

/** The fields that differ, in the order of what stands there now. */
export function listChanges(before: Values | null, after: Values | null): readonly Change[] {
  const fields = new Set([...Object.keys(after ?? {}), ...Object.keys(before ?? {})]);
  return [...fields].flatMap((field) => {
    const change = {
      field,
      ...(hasValue(before, field) && { before: formatValue(before[field]) }),
      ...(hasValue(after, field) && { after: formatValue(after[field]) }),
    };
    return change.before === change.after ? [] : [change];
  });
}

/** No value at all and null are the same to a reader. */
function hasValue(values: Values | null, field: string): values is Values {
  return values !== null && values[field] !== undefined && values[field] !== null;
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
