import { ApiProblem } from '../../api/api-problem.ts';

const LINE_CHARS_MAX = 100;
const INDENT = '  ';

/** A document as text for people. What fits stands on one line, such as the prices of a model. */
export function formatDocument(value: unknown, indent = ''): string {
  const short = JSON.stringify(value);
  const items = listItems(value);
  const isFlat = items?.every(([, item]) => listItems(item) === undefined) ?? true;
  if (items === undefined || items.length === 0) return short;
  const deeper = `${indent}${INDENT}`;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (isFlat) {
    const line = `${open}${items.map(([name, item]) => `${name}${JSON.stringify(item)}`).join(', ')}${close}`;
    if (indent.length + line.length <= LINE_CHARS_MAX) return line;
  }
  const lines = items.map(([name, item]) => `${deeper}${name}${formatDocument(item, deeper)}`);
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

/** The items of a list or a map, each with what stands before it. Undefined for anything else. */
function listItems(value: unknown): (readonly [name: string, item: unknown])[] | undefined {
  if (Array.isArray(value)) return value.map((item: unknown) => ['', item]);
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => [`${JSON.stringify(name)}: `, item]);
}

/** Throws an `ApiProblem` if the text is no JSON object. */
export function parseDocument(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw refuse(`this is not JSON: ${reason}`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuse('a catalogue is an object with plans and models');
  }
  return value;
}

function refuse(message: string, options?: ErrorOptions): ApiProblem {
  return new ApiProblem(message, { status: 0, code: 'not_json' }, options);
}
