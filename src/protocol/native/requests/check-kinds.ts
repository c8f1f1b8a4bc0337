import { explainKind, findKindRule, readType } from '../../fields/check-fields.ts';
import { TOOL_RULES } from '../../fields/field-rules.ts';
import { nameKind } from '../../fields/refuse-kind.ts';
import { Refusal } from '../../refusals.ts';
import type { NativeRequest } from './native-request.ts';

const NO_PATHS: readonly string[] = Object.freeze([]);

/** Refuses the kinds of tools that no model sells. Returns the paths of unknown kinds. */
export function checkKinds({ tools }: NativeRequest): readonly string[] {
  if (tools == null) return NO_PATHS;
  let unknown: string[] | undefined;
  for (let i = 0; i < tools.length; i++) {
    const type = readType(tools[i]);
    if (type === '') continue;
    const path = `tools.${i}.type`;
    if (type.includes(':')) throw refuse(path, explainServerTool(type));
    const rule = findKindRule(type, TOOL_RULES);
    if (rule === undefined) {
      unknown ??= [];
      unknown.push(path);
    } else if (rule.becomes === 'refused') throw refuse(path, explainKind(rule));
  }
  return unknown ?? NO_PATHS;
}

/** Other gateways put a name and a colon before the kinds of tools that they run themselves. */
function explainServerTool(type: string): string {
  return `${nameKind(type)} is not sold here: the server would run it, and bill it`;
}

function refuse(path: string, message: string): Refusal {
  return new Refusal('invalid_request', `${path}: ${message}`, { param: path });
}
