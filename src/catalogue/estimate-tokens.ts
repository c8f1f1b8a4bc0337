import { countUtf8Bytes } from '../lib/count-utf8-bytes.ts';
import type { AskedRequest, CacheControl, ContentBlock } from '../protocol/inference.ts';
import { type LongTexts, NO_LONG_TEXTS } from '../protocol/parse-json-body.ts';
import { isObject } from '../protocol/schema.ts';

/** No real text has fewer tokens than this makes of it. */
const BYTES_PER_TOKEN_MAX = 16;
const MESSAGE_TOKENS = 4;
const TOOL_TOKENS = 16;
/** What a picture of the largest size that is not scaled down costs; a page of a document is one too. */
const IMAGE_TOKENS = 1_600;
const BASE64_CHARS_PER_PAGE = 65_536;
/** Quotes, colon and comma around a value and its name. */
const JSON_FRAME_BYTES = 3;
const JSON_SCALAR_BYTES = 4;

export interface TokenEstimate {
  /** What counting is likely to give, rather too many than too few. */
  readonly likely: number;
  /** What it cannot give less than. */
  readonly least: number;
  /** The dearest way in which the request asks for its input to be kept in the cache. */
  readonly cacheWrite: CacheTtl | undefined;
}

type CacheTtl = NonNullable<CacheControl['ttl']>;

/** Grows while a request is walked through; one object, no strings. */
interface Tally {
  bytes: number;
  tokens: number;
  cacheWrite: CacheTtl | undefined;
  readonly longTexts: LongTexts;
}

/** The tokens of a request's input, from the bytes of its text. Nothing is copied, whatever its size. */
export function estimateTokens(
  request: AskedRequest,
  bytesPerToken: number,
  longTexts = NO_LONG_TEXTS,
): TokenEstimate {
  const tally: Tally = { bytes: 0, tokens: 0, cacheWrite: undefined, longTexts };
  noteCacheControl(request.cacheControl, tally);
  if (request.system !== undefined) addContent(request.system, tally);
  for (const message of request.messages) {
    tally.tokens += MESSAGE_TOKENS;
    addContent(message.content, tally);
  }
  for (const tool of request.tools) {
    tally.tokens += TOOL_TOKENS;
    tally.bytes += countUtf8Bytes(tool.name) + bytesOf(tool.description ?? '', tally);
    addJson(tool.input_schema ?? null, tally, 'opaque');
    noteMarker(tool, tally);
  }
  if (isObject(request.outputSchema)) addJson(request.outputSchema, tally, 'opaque');
  for (const value of request.sentUnread) addJson(value, tally, 'blocks');
  return {
    likely: tally.tokens + Math.ceil(tally.bytes / bytesPerToken),
    least: Math.ceil(tally.bytes / BYTES_PER_TOKEN_MAX),
    cacheWrite: tally.cacheWrite,
  };
}

/** Of a text, or of the one that it stands for. */
function bytesOf(text: string, { longTexts }: Tally): number {
  const left = longTexts.size === 0 ? undefined : longTexts.get(text);
  return left ?? countUtf8Bytes(text);
}

function addContent(content: string | readonly ContentBlock[], tally: Tally): void {
  if (typeof content === 'string') {
    tally.bytes += bytesOf(content, tally);
    return;
  }
  for (const block of content) {
    noteMarker(block, tally);
    addBlock(block, tally);
  }
}

function addBlock(block: ContentBlock, tally: Tally): void {
  switch (block.type) {
    case 'text':
      tally.bytes += bytesOf(block.text, tally);
      return;
    case 'thinking':
      tally.bytes += bytesOf(block.thinking, tally);
      return;
    case 'tool_use':
      tally.bytes += countUtf8Bytes(block.name);
      addJson(block.input, tally, 'opaque');
      return;
    case 'tool_result':
      // Blocks in it are known ones, but at any depth that a client cares to send.
      addJson(block.content ?? null, tally, 'blocks');
      return;
    default:
      addJson(block, tally, 'blocks');
  }
}

/**
 * Walks with a stack of its own: a client can nest deeper than a function may call itself. Only blocks can be
 * marked; in a schema or in a tool's input the same name means whatever the client wants.
 */
function addJson(root: unknown, tally: Tally, kind: 'blocks' | 'opaque'): void {
  const rest: unknown[] = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string') tally.bytes += bytesOf(value, tally) + JSON_FRAME_BYTES;
    else if (Array.isArray(value)) for (const item of value) rest.push(item);
    else if (!isObject(value)) tally.bytes += JSON_SCALAR_BYTES;
    else {
      if (kind === 'blocks') noteMarker(value, tally);
      if (!addFile(value, tally)) addFields(value, tally, rest);
    }
  }
}

function addFields(value: Readonly<Record<string, unknown>>, tally: Tally, rest: unknown[]): void {
  for (const name of Object.keys(value)) {
    tally.bytes += countUtf8Bytes(name) + JSON_FRAME_BYTES;
    rest.push(value[name]);
  }
}

function noteMarker(marked: object, tally: Tally): void {
  if ('cache_control' in marked) noteCacheControl(marked.cache_control, tally);
}

function noteCacheControl(control: unknown, tally: Tally): void {
  if (!isObject(control)) return;
  tally.cacheWrite = control['ttl'] === '1h' ? '1h' : (tally.cacheWrite ?? '5m');
}

/** An image or a document that is not text: its bytes say little about its tokens. */
function addFile(block: Readonly<Record<string, unknown>>, tally: Tally): boolean {
  if (block['type'] !== 'image' && block['type'] !== 'document') return false;
  const source = block['source'];
  if (!isObject(source) || source['type'] === 'text' || source['type'] === 'content') return false;
  const data = source['data'];
  const pages =
    block['type'] === 'document' && typeof data === 'string'
      ? Math.ceil(bytesOf(data, tally) / BASE64_CHARS_PER_PAGE)
      : 1;
  tally.tokens += IMAGE_TOKENS * Math.max(1, pages);
  return true;
}
