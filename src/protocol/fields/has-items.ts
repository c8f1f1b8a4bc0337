export function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** Some upstreams refuse fields that are null or an empty list. */
export function saysSomething(value: unknown): boolean {
  return value !== null && (!Array.isArray(value) || value.length > 0);
}
