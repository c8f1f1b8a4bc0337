interface SchemaTerms {
  readonly name?: string | null;
  readonly description?: string | null;
  readonly strict?: boolean | null;
}

/** Upstreams refuse any other. */
const GOOD_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Picks what both chat and Responses clients say of the schema of an answer. */
export function pickSchemaTerms({
  name,
  description,
  strict,
}: SchemaTerms): Readonly<Record<string, unknown>> {
  return {
    ...(name != null && GOOD_NAME.test(name) && { name }),
    description: description ?? undefined,
    strict: strict ?? undefined,
  };
}
