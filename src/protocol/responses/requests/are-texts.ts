import { isObject } from '../../schema.ts';

const SYSTEM_ROLES: readonly unknown[] = ['system', 'developer'];
const TEXT_KINDS: readonly unknown[] = ['input_text', 'output_text', 'text'];

/**
 * Whether a request has only messages of plain texts, so that their stand-ins say how long they
 * are. Instructions are joined to one text, so there may be only one of them.
 */
export function areTexts(body: Readonly<Record<string, unknown>>): boolean {
  // What is to be kept has to be read.
  if (body['store'] !== false) return false;
  const { input, instructions } = body;
  if (!Array.isArray(input)) return true;
  let systemCount = instructions == null || instructions === '' ? 0 : 1;
  for (const item of input) {
    if (!isObject(item) || !isText(item['content'])) return false;
    if (item['type'] != null && item['type'] !== 'message') return false;
    if (!SYSTEM_ROLES.includes(item['role'])) continue;
    systemCount += typeof item['content'] === 'string' ? 1 : 2;
  }
  return systemCount < 2;
}

function isText(content: unknown): boolean {
  if (typeof content === 'string') return true;
  return (
    Array.isArray(content) &&
    content.every((part) => isObject(part) && TEXT_KINDS.includes(part['type']))
  );
}
