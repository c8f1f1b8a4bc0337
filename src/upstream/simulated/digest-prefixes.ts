import { createHash, type Hash } from 'node:crypto';
import type { InferenceRequest, Message } from '../../protocol/inference.ts';
import { isObject } from '../../protocol/schema.ts';
import type { CacheTtl } from './prompt-cache.ts';
import { blocksOf } from './read-conversation.ts';

/** The part of a request up to and including one of its blocks. */
export interface Prefix {
  /** Equal for equal parts, whatever cache markers they carry. */
  readonly digest: string;
  /** How long to remember it. Absent if the request marks no end of a prefix here. */
  readonly ttl: CacheTtl | undefined;
  /** The part as a request, for counting its tokens. */
  toRequest(): InferenceRequest;
}

/**
 * Every prefix of a request, from short to long, in the order in which models read: tools, system,
 * messages.
 */
export function digestPrefixes(model: string, request: InferenceRequest): Prefix[] {
  const empty = { ...request, tools: [], system: undefined, messages: [], outputSchema: undefined };
  const prefixes: Prefix[] = [];
  let digest = model;
  function add(label: string, block: unknown, toRequest: () => InferenceRequest): void {
    const hash = createHash('sha256').update(JSON.stringify([digest, label]));
    updateWithJson(hash, withoutMarker(block));
    digest = hash.digest('base64');
    prefixes.push({ digest, ttl: readMarker(block), toRequest });
  }

  request.tools.forEach((tool, index) => {
    add('tool', tool, () => ({ ...empty, tools: request.tools.slice(0, index + 1) }));
  });
  const head = { ...empty, tools: request.tools };
  const system = blocksOf(request.system ?? []);
  system.forEach((block, index) => {
    add('system', block, () => ({ ...head, system: system.slice(0, index + 1) }));
  });
  const body = { ...head, system: request.system };
  request.messages.forEach((message, place) => {
    const blocks = blocksOf(message.content);
    blocks.forEach((block, index) => {
      add(`${place} ${message.role}`, block, () => ({
        ...body,
        messages: [
          ...request.messages.slice(0, place),
          { ...message, content: blocks.slice(0, index + 1) } as Message,
        ],
      }));
    });
  });
  return withTopLevelMarker(prefixes, request);
}

/** A marker beside the messages stands for one on the very last block. */
function withTopLevelMarker(prefixes: Prefix[], request: InferenceRequest): Prefix[] {
  const last = prefixes.at(-1);
  if (request.cacheControl === undefined || last === undefined) return prefixes;
  return [...prefixes.slice(0, -1), { ...last, ttl: request.cacheControl.ttl ?? '5m' }];
}

function readMarker(block: unknown): CacheTtl | undefined {
  const marker = isObject(block) ? block['cache_control'] : undefined;
  if (!isObject(marker)) return undefined;
  return marker['ttl'] === '1h' ? '1h' : '5m';
}

function withoutMarker(block: unknown): unknown {
  return isObject(block) ? { ...block, cache_control: undefined } : block;
}

/**
 * Walks with a stack of its own: a client can nest values deeper than a function can call itself.
 */
function updateWithJson(hash: Hash, root: unknown): void {
  const rest: unknown[] = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    if (Array.isArray(value)) {
      hash.update(`[${value.length}`);
      for (const item of value) rest.push(item);
    } else if (isObject(value)) {
      const fields = Object.entries(value).filter(([, field]) => field !== undefined);
      hash.update(`{${fields.length}`);
      for (const [name, field] of fields) rest.push(field, name);
    } else hash.update(`${JSON.stringify(value)},`);
  }
}
