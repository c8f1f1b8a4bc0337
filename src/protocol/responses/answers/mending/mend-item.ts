import { type Json, readText } from '../../../json/upstream-json.ts';
import { isObject } from '../../../schema.ts';
import { itemIdOf } from '../response-object.ts';
import { ITEM_DONE } from './item-history.ts';

const ID_PREFIXES = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
} as const;

/** Where an item stands. `status` is that of an item in a stream. */
interface ItemPlace {
  readonly requestId: string;
  readonly place: unknown;
  readonly status?: 'in_progress' | 'completed';
}

/** Fills in what clients break without. Returns the same item if it has all of it. */
export function mendItem(item: Json, { requestId, place, status }: ItemPlace): Json {
  const { type } = item;
  if (!isKnown(type)) return item;
  const id = readText(item, 'id') ?? itemIdOf(ID_PREFIXES[type], requestId, Number(place) || 0);
  const mended: Json = { id, ...describe(item, type, id, status) };
  return Object.keys(mended).some((name) => mended[name] !== item[name])
    ? { ...item, ...mended }
    : item;
}

/** Does the same for what a piece of a stream has. */
export function mendPiece(type: string, payload: Json, requestId: string): Json {
  const { item, part, output_index: place } = payload;
  if (isObject(item)) {
    const status = type === ITEM_DONE ? 'completed' : 'in_progress';
    const mended = mendItem(item, { requestId, place, status });
    return mended === item ? payload : { ...payload, item: mended };
  }
  const mended = mendPart(part);
  return mended === part ? payload : { ...payload, part: mended };
}

function describe(
  item: Json,
  type: keyof typeof ID_PREFIXES,
  id: string,
  status: ItemPlace['status'],
): Json {
  switch (type) {
    case 'message':
      return { role: 'assistant', content: mendParts(item['content']) };
    case 'reasoning':
      return Array.isArray(item['summary']) ? {} : { summary: [] };
    case 'function_call':
    case 'custom_tool_call':
      return {
        call_id: readText(item, 'call_id') ?? id,
        ...(status !== undefined && { status: readText(item, 'status') ?? status }),
        ...(type === 'custom_tool_call'
          ? { input: item['input'] ?? '' }
          : { arguments: mendArguments(item['arguments'], status) }),
      };
  }
}

/** Clients read whole arguments as JSON, and an empty text is not JSON. */
function mendArguments(said: unknown, status: ItemPlace['status']): unknown {
  return said === '' || said == null ? (status === 'in_progress' ? '' : '{}') : said;
}

function mendParts(content: unknown): readonly unknown[] {
  if (!Array.isArray(content)) return [];
  const mended = content.map(mendPart);
  return mended.some((part, i) => part !== content[i]) ? mended : content;
}

function mendPart(part: unknown): unknown {
  if (!isObject(part) || part['type'] !== 'output_text') return part;
  return Array.isArray(part['annotations']) ? part : { ...part, annotations: [] };
}

function isKnown(type: unknown): type is keyof typeof ID_PREFIXES {
  return typeof type === 'string' && Object.hasOwn(ID_PREFIXES, type);
}
