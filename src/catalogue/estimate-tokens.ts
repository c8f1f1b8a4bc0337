import { countUtf8Bytes } from '../lib/bytes/count-utf8-bytes.ts';
import type { EmbeddingInput } from '../protocol/embeddings/embedding-input.ts';
import type {
  CacheControl,
  ContentBlock,
  InferenceRequest,
  Message,
  RequestOutline,
  Tool,
} from '../protocol/inference.ts';
import { countHiddenDigits } from '../protocol/json/count-hidden-digits.ts';
import { type JsonBody, type LongTexts, NO_LONG_TEXTS } from '../protocol/json/parse-json-body.ts';
import { isObject } from '../protocol/schema.ts';
import { addFile, type FileCounts, isFile } from './count-files.ts';

/** No real text has fewer tokens than its bytes divided by this. */
const BYTES_PER_TOKEN_MAX = 16;
const MESSAGE_TOKENS = 4;
/** No token goes from one part to the next, however short both are. */
const FURTHER_PART_TOKENS = 1;
const TOOL_TOKENS = 16;
/** The most that vendors add to a prompt about tools in general, and about each of their own. */
const TOOL_PROMPT_TOKENS = 500;
const VENDOR_TOOL_TOKENS = 1_300;
/** The same for a set of tools: thirty and more, each with a schema that only the vendor knows. */
const TOOLSET_TOKENS = 10_000;
const TOOLSET = /_toolset(?:_|$)/i;
/** The same for documents that are to be cited. */
const CITATION_TOKENS = 600;
/** Quotes, colon and comma around a name or value. */
const JSON_FRAME_BYTES = 3;
/** Both brackets of a list or an object, and the comma after it. */
const JSON_BRACKETS_BYTES = 3;
const COMMA_BYTES = 1;

export interface TokenEstimate {
  /** The likely result of counting; rather too high than too low. */
  readonly likely: number;
  /** Counting cannot give less than this. */
  readonly least: number;
  /**
   * Counting cannot give more than this, a token for each byte; files have their likely number.
   */
  readonly most: number;
  /**
   * What counting may give beyond `likely` if the model reads everything that is sent; files are
   * not included.
   */
  readonly unsure: number;
  /** What limits of tokens hold, if that is less than all that is possible. */
  readonly limited?: number;
  /** The parts that are not text; `undefined` if there are none. */
  readonly files: FileCounts | undefined;
  /** The most expensive kind of cache write that the request asks for. */
  readonly cacheWrite: CacheTtl | undefined;
}

type CacheTtl = NonNullable<CacheControl['ttl']>;

/** Grows during the walk through a request. It is one object, and no text is copied. */
interface Tally {
  bytes: number;
  tokens: number;
  /** Parts that a model may or may not read: ids, signatures, unknown fields. */
  unsureBytes: number;
  unsureTokens: number;
  files: FileCounts | undefined;
  cacheWrite: CacheTtl | undefined;
  readonly longTexts: LongTexts;
}

/** What a request does not say about the body that it came in. */
type Source = Pick<JsonBody, 'longTexts' | 'scalarBytes' | 'value'>;

const NO_SOURCE: Source = { longTexts: NO_LONG_TEXTS, scalarBytes: 0, value: {} };

type Fields = Readonly<Record<string, unknown>>;

/**
 * Estimates the input tokens of a request from the bytes of everything that is sent. It copies
 * nothing, whatever the size.
 */
export function estimateTokens(request: InferenceRequest, bytesPerToken: number): TokenEstimate;
/** A request that may lack its long texts says with its body how long they are. */
export function estimateTokens(
  request: RequestOutline,
  bytesPerToken: number,
  source: Source,
): TokenEstimate;
export function estimateTokens(
  request: RequestOutline,
  bytesPerToken: number,
  source: Source = NO_SOURCE,
): TokenEstimate {
  if (request.embeds !== undefined) return estimateEmbeds(request.embeds, bytesPerToken);
  const tally: Tally = {
    bytes: 0,
    tokens: 0,
    unsureBytes: countHiddenDigits(source),
    unsureTokens: 0,
    files: undefined,
    cacheWrite: undefined,
    longTexts: source.longTexts,
  };
  noteCacheControl(request.cacheControl, tally);
  if (request.system !== undefined) addContent(request.system, tally);
  for (const message of request.messages) addMessage(message, tally);
  if (request.tools.length > 0) tally.unsureTokens += TOOL_PROMPT_TOKENS;
  for (const tool of request.tools) addTool(tool, tally);
  if (isObject(request.outputSchema)) addJson(request.outputSchema, tally, 'opaque');
  addUnsure(request.passedOn, tally);
  for (const value of request.sentUndecoded) addSentUndecoded(value, tally);
  const tokens = Math.ceil(tally.bytes / bytesPerToken);
  return {
    likely: tally.tokens + tokens,
    least: Math.ceil(tally.bytes / BYTES_PER_TOKEN_MAX),
    most: tally.tokens + tally.bytes + tally.unsureTokens + tally.unsureBytes,
    unsure: tally.unsureTokens + Math.ceil(tally.unsureBytes / bytesPerToken),
    files: tally.files,
    cacheWrite: tally.cacheWrite,
  };
}

/**
 * The credits for all that is possible are held, so that no charge is above its hold. Limits of
 * tokens hold what is likely: the rest would be a multiple of it.
 */
function estimateEmbeds(embeds: EmbeddingInput, bytesPerToken: number): TokenEstimate {
  const { textBytes, tokens, tokensMax } = embeds;
  const likely = Math.min(tokens + Math.ceil(textBytes / bytesPerToken), tokensMax);
  const least = tokens + Math.ceil(textBytes / BYTES_PER_TOKEN_MAX);
  const unsure = tokensMax - likely;
  return {
    ...{ likely, least, most: tokensMax, unsure, limited: likely },
    ...{ files: undefined, cacheWrite: undefined },
  };
}

/** Returns the length of a text, or of the text that a stand-in replaces. */
function bytesOf(text: string, { longTexts }: Tally): number {
  const left = longTexts.size === 0 ? undefined : longTexts.get(text);
  return left ?? countUtf8Bytes(text);
}

function addMessage(message: Message, tally: Tally): void {
  tally.tokens += MESSAGE_TOKENS;
  addContent(message.content, tally);
  addOthers(message, MESSAGE_NAMES, tally);
}

function addTool(tool: Tool, tally: Tally): void {
  tally.tokens += TOOL_TOKENS;
  tally.bytes += countUtf8Bytes(tool.name ?? '') + bytesOf(tool.description ?? '', tally);
  addJson(tool.input_schema ?? null, tally, 'opaque');
  noteMarker(tool, tally);
  if (tool.type != null && tool.type !== 'custom') {
    tally.unsureTokens += TOOLSET.test(tool.type) ? TOOLSET_TOKENS : VENDOR_TOOL_TOKENS;
  }
  addOthers(tool, TOOL_NAMES, tally);
}

function addContent(content: string | readonly ContentBlock[], tally: Tally): void {
  if (typeof content === 'string') {
    tally.bytes += bytesOf(content, tally);
    return;
  }
  tally.tokens += Math.max(0, content.length - 1) * FURTHER_PART_TOKENS;
  for (const block of content) {
    noteMarker(block, tally);
    addBlock(block, tally);
  }
}

/** Counts each part of a block once: for what it is, or with `addOthers`. */
function addBlock(block: ContentBlock, tally: Tally): void {
  switch (block.type) {
    case 'text':
      tally.bytes += bytesOf(block.text, tally);
      addOthers(block, TEXT_NAMES, tally);
      return;
    case 'thinking':
      tally.bytes += bytesOf(block.thinking, tally);
      addOthers(block, THINKING_NAMES, tally);
      return;
    case 'tool_use':
      tally.bytes += countUtf8Bytes(block.name);
      addJson(block.input, tally, 'opaque');
      addOthers(block, TOOL_USE_NAMES, tally);
      return;
    case 'tool_result':
      // Blocks in it are of known kinds, but a client may nest them to any depth.
      addJson(block.content ?? null, tally, 'blocks');
      addOthers(block, TOOL_RESULT_NAMES, tally);
      return;
    default:
      addJson(block, tally, 'blocks');
  }
}

type Names = ReadonlySet<string>;
const MESSAGE_NAMES: Names = new Set(['role', 'content']);
const TEXT_NAMES: Names = new Set(['type', 'text']);
const THINKING_NAMES: Names = new Set(['type', 'thinking']);
const TOOL_USE_NAMES: Names = new Set(['type', 'name', 'input']);
const TOOL_RESULT_NAMES: Names = new Set(['type', 'content', 'is_error']);
const TOOL_NAMES: Names = new Set(['name', 'description', 'input_schema']);
/** The content of a file is not counted by its bytes; everything beside it is. */
const DATA_NAMES: Names = new Set(['data']);
const NO_NAMES: Names = new Set();

/** Counts the fields that are not counted elsewhere. Most values have none. */
function addOthers(value: object, counted: Names, tally: Tally): void {
  for (const name in value) {
    if (!counted.has(name)) addField(name, (value as Fields)[name], tally);
  }
}

function addUnsure(fields: Fields, tally: Tally): void {
  for (const name in fields) addField(name, fields[name], tally);
}

/** Counts a value that decoding left out. A cache marker among these is in an object of its own. */
function addSentUndecoded(value: unknown, tally: Tally): void {
  if (isObject(value)) noteMarker(value, tally);
  addField('', value, tally);
}

function addField(name: string, value: unknown, tally: Tally): void {
  const { bytes } = tally;
  tally.bytes += countUtf8Bytes(name) + JSON_FRAME_BYTES;
  addJson(value, tally, 'opaque');
  tally.unsureBytes += tally.bytes - bytes;
  tally.bytes = bytes;
}

/**
 * Walks with a stack of its own, because a client can nest deeper than a function may recurse. Only
 * blocks can be marked: in a schema or in a tool's input the same name means whatever the client
 * wants.
 */
function addJson(root: unknown, tally: Tally, kind: 'blocks' | 'opaque'): void {
  const rest: unknown[] = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string') tally.bytes += bytesOf(value, tally) + JSON_FRAME_BYTES;
    else if (typeof value !== 'object' || value === null) {
      tally.bytes += String(value).length + COMMA_BYTES;
    } else {
      tally.bytes += JSON_BRACKETS_BYTES;
      if (Array.isArray(value)) for (const item of value) rest.push(item);
      else if (kind === 'opaque') addFields(value as Fields, tally, rest);
      else addBlockFields(value as Fields, tally, rest);
    }
  }
}

function addBlockFields(value: Fields, tally: Tally, rest: unknown[]): void {
  noteMarker(value, tally);
  const { citations } = value;
  if (isObject(citations) && citations['enabled'] === true) tally.unsureTokens += CITATION_TOKENS;
  if (!isFile(value)) {
    addFields(value, tally, rest);
    return;
  }
  const source = isObject(value['source']) ? value['source'] : {};
  const data = source['type'] === 'base64' ? source['data'] : undefined;
  const dataBytes = typeof data === 'string' ? bytesOf(data, tally) : 0;
  tally.files ??= { images: 0, imageLinks: 0, pdfs: 0, documentLinks: 0, files: 0, tokens: 0 };
  tally.tokens += addFile(value, dataBytes, tally.files);
  addOthers(source, dataBytes > 0 ? DATA_NAMES : NO_NAMES, tally);
  for (const name of Object.keys(value)) {
    if (name === 'type' || name === 'cache_control') addField(name, value[name], tally);
    else if (value[name] !== source) addNamed(name, value[name], tally, rest);
  }
}

function addFields(value: Fields, tally: Tally, rest: unknown[]): void {
  for (const name of Object.keys(value)) addNamed(name, value[name], tally, rest);
}

function addNamed(name: string, value: unknown, tally: Tally, rest: unknown[]): void {
  tally.bytes += countUtf8Bytes(name) + JSON_FRAME_BYTES;
  rest.push(value);
}

function noteMarker(marked: object, tally: Tally): void {
  if ('cache_control' in marked) noteCacheControl(marked.cache_control, tally);
}

function noteCacheControl(control: unknown, tally: Tally): void {
  if (!isObject(control)) return;
  tally.cacheWrite = control['ttl'] === '1h' ? '1h' : (tally.cacheWrite ?? '5m');
}
