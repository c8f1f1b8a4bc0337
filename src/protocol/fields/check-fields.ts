import type { Tool } from '../inference.ts';
import { isObject } from '../schema.ts';
import { EDIT_RULES, type FieldRule, type KindRule, TOOL_RULES } from './field-rules.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The known fields of a body, by name. The value is a rule, or null if nothing special applies. */
type KnownFields = ReadonlyMap<string, FieldRule | null>;

/** Names that are read in tools and edits, beyond the names in the schemas. */
export const KIND_NAMES = [
  'context_management',
  'edits',
  'max_uses',
  'allowed_callers',
  'stream_options',
  'include_usage',
] as const;

/** Throws a refusal in the words of the format. */
type Refuse = (field: string, message: string) => never;

const NO_NAMES: readonly string[] = Object.freeze([]);

export function knowFields(names: readonly string[], rules: readonly FieldRule[]): KnownFields {
  return new Map<string, FieldRule | null>([
    ...names.map((name) => [name, null] as const),
    ...rules.map((rule) => [rule.field, rule] as const),
  ]);
}

/**
 * Returns the names of unknown fields. Calls `refuse`, which throws, for a field that must not be
 * sent.
 */
export function checkFields(body: Fields, known: KnownFields, refuse: Refuse): readonly string[] {
  let unknown: string[] | undefined;
  for (const name in body) {
    const rule = known.get(name);
    if (name === 'context_management') checkEdits(body[name], refuse);
    if (rule === undefined) {
      unknown ??= [];
      unknown.push(name);
    } else if (rule !== null) checkField(rule, body[name], refuse);
  }
  return unknown ?? NO_NAMES;
}

/** Whether a field is left out of what is sent to an upstream of the same format. */
export function isDropped(name: string, known: KnownFields): boolean {
  return known.get(name)?.others === 'dropped';
}

function checkField(rule: FieldRule, value: unknown, refuse: Refuse): void {
  if (rule.others === 'dropped' || saysNothing(value)) return;
  if (rule.passes.some((passing) => isEqual(passing, value))) return;
  const allowed = rule.passes.map((passing) => JSON.stringify(passing)).join(' or ');
  const remedy = allowed === '' ? 'leave it out' : `leave it out, or say ${allowed}`;
  refuse(rule.field, `this is not sold here: ${rule.why}; ${remedy}`);
}

function saysNothing(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function isEqual(passing: FieldRule['passes'][number], value: unknown): boolean {
  if (typeof passing !== 'object') return passing === value;
  if (Array.isArray(passing)) {
    if (!Array.isArray(value) || value.length !== passing.length) return false;
    return passing.every((item, i) => item === value[i]);
  }
  if (!isObject(value)) return false;
  const items = Object.entries(passing);
  if (Object.keys(value).length !== items.length) return false;
  return items.every(([name, item]) => value[name] === item);
}

function checkEdits(context: unknown, refuse: Refuse): void {
  const edits = isObject(context) ? context['edits'] : undefined;
  if (!Array.isArray(edits)) return;
  for (let i = 0; i < edits.length; i++) {
    const rule = findKindRule(readType(edits[i]), EDIT_RULES);
    if (rule === undefined) continue;
    refuse(`context_management.edits.${i}.type`, explainKind(rule));
  }
}

/** Returns the `type` of a tool or an edit, whatever its shape; an empty string if it has none. */
export function readType(value: unknown): string {
  const type = isObject(value) ? value['type'] : undefined;
  return typeof type === 'string' ? type : '';
}

/** Finds the rule for a `type`. Capitals are ignored, because some readers ignore them. */
export function findKindRule(type: string, rules: readonly KindRule[]): KindRule | undefined {
  const lowerType = type.toLowerCase();
  return rules.find(
    ({ kind }) =>
      lowerType.startsWith(kind) &&
      (lowerType.length === kind.length || lowerType[kind.length] === '_'),
  );
}

/** Returns the rule of a tool whose uses have a price; `undefined` for all other tools. */
export function findPricedTool({ type }: Tool): KindRule | undefined {
  const rule = type == null ? undefined : findKindRule(type, TOOL_RULES);
  return rule?.becomes === 'priced' ? rule : undefined;
}

export function explainKind({ kind, why }: KindRule): string {
  return `\`${kind}\` is not sold here: ${why}`;
}
