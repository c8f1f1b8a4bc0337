import { fitToolName } from '../../fields/fit-tool-name.ts';
import { nameKind, refuseKind } from '../../fields/refuse-kind.ts';
import type { ContentBlock } from '../../inference.ts';
import { type Json, readObject, readText } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import type { UpstreamCall } from '../../upstream-call.ts';
import type { FilePart, ImagePart, TextPart, UserPart } from './chat-request.ts';

type Accepts = UpstreamCall['accepts'];

/**
 * Turns blocks into parts of a user's message. `path` is the place of the blocks. Thinking is left
 * out.
 */
export function encodeParts(
  blocks: readonly ContentBlock[],
  path: string,
  accepts: Accepts,
): UserPart[] {
  return blocks.flatMap((block, i) => encodeBlock(block, `${path}.${i}`, accepts));
}

export function isText(part: UserPart): part is TextPart {
  return part.type === 'text';
}

export function joinTexts(parts: readonly { readonly text: string }[]): string {
  return parts.map(({ text }) => text).join('\n');
}

/** Returns one part for most blocks. */
export function encodeBlock(block: ContentBlock, path: string, accepts: Accepts): UserPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'image':
      return [encodeImage(readObject(block, 'source'), path)];
    case 'document':
      return encodeDocument(block, path, accepts);
    case 'search_result':
      return [encodeSearchResult(block)];
    case 'tool_reference':
      return [
        { type: 'text', text: `Tool found: ${fitToolName(readText(block, 'tool_name') ?? '')}` },
      ];
    case 'thinking':
    case 'redacted_thinking':
      return [];
    default:
      throw refuseKind(path, `blocks of type ${nameKind(block.type)}`);
  }
}

function encodeImage(source: Json, path: string): ImagePart {
  switch (source['type']) {
    case 'base64': {
      const url = `data:${String(source['media_type'])};base64,${String(source['data'])}`;
      return { type: 'image_url', image_url: { url } };
    }
    case 'url':
      return { type: 'image_url', image_url: { url: String(source['url']) } };
    default:
      throw refuseKind(path, `images by ${nameKind(source['type'])}`);
  }
}

/** Any format can express plain text, but not every upstream takes files. */
function encodeDocument(document: Json, path: string, accepts: Accepts): UserPart[] {
  const source = readObject(document, 'source');
  const title = readText(document, 'title');
  const context = readText(document, 'context');
  const body = readDocument(source);
  if (body !== undefined) return [joinPart(title, context, body)];
  if (source['type'] !== 'base64') {
    throw refuseKind(path, `documents by ${nameKind(source['type'])}`);
  }
  if (accepts?.has('pdf') !== true) throw refuseKind(path, 'PDFs');
  const said = context === undefined ? [] : [{ type: 'text' as const, text: context }];
  return [...said, encodePdf(source, title ?? 'document.pdf')];
}

function encodePdf(source: Json, filename: string): FilePart {
  const data = `data:${String(source['media_type'])};base64,${String(source['data'])}`;
  return { type: 'file', file: { filename, file_data: data } };
}

function readDocument(source: Json): string | undefined {
  if (source['type'] === 'text') return readText(source, 'data') ?? '';
  if (source['type'] !== 'content') return undefined;
  const { content } = source;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const isAllText = content.every((block) => isObject(block) && block['type'] === 'text');
  return isAllText ? readTexts(content) : undefined;
}

function encodeSearchResult(result: Json): TextPart {
  const { content } = result;
  const body = Array.isArray(content) ? readTexts(content) : '';
  return joinPart(readText(result, 'title'), readText(result, 'source'), body);
}

const readTexts = (blocks: readonly unknown[]) =>
  blocks.map((block) => (isObject(block) ? (readText(block, 'text') ?? '') : '')).join('\n');

function joinPart(...texts: readonly (string | undefined)[]): TextPart {
  const said = texts.filter((text) => text !== undefined && text !== '');
  return { type: 'text', text: said.join('\n') };
}
