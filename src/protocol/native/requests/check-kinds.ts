import { explainKind, findKindRule, readKind } from '../../fields/check-fields.ts';
import { TOOL_RULES } from '../../fields/field-rules.ts';
import { Refusal } from '../../refusals.ts';
import type { NativeRequest } from './native-request.ts';

const NO_PATHS: readonly string[] = Object.freeze([]);

/** Refuses the kinds of tools that no model sells. Returns the paths of unknown kinds. */
export function checkKinds({ tools }: NativeRequest): readonly string[] {
  if (tools == null) return NO_PATHS;
  let unknown: string[] | undefined;
  for (let i = 0; i < tools.length; i++) {
    const kind = readKind(tools[i]);
    if (kind === '') continue;
    const rule = findKindRule(kind, TOOL_RULES);
    const path = `tools.${i}.type`;
    if (rule === undefined) {
      unknown ??= [];
      unknown.push(path);
    } else if (rule.becomes === 'refused') {
      throw new Refusal('invalid_request', `${path}: ${explainKind(rule)}`, { param: path });
    }
  }
  return unknown ?? NO_PATHS;
}
