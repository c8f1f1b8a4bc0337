import { isBlank } from '../../fields/is-blank.ts';
import { isHttpUrl } from '../../fields/is-http-url.ts';
import type { CacheControl, ContentBlock, OtherBlock, TextBlock } from '../../inference.ts';
import { isObject } from '../../schema.ts';
import type { AssistantPart, FilePart, UserPart } from './chat-request.ts';
import { refuseField } from './refuse-field.ts';

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const PDF_TYPE = 'application/pdf';
/** The longest title of a native document. */
const TITLE_CHARS_MAX = 500;

/** Turns parts into blocks and leaves out blank texts. `path` is the place of the parts. */
export function decodeParts(parts: readonly UserPart[], path: string): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  for (const [i, part] of parts.entries()) {
    const marker = decodeMarker(part);
    if (part.type === 'image_url') {
      const image = decodeImage(part.image_url.url, `${path}.${i}.image_url.url`);
      blocks.push({ ...image, ...marker });
    } else if (part.type === 'file') {
      blocks.push({ ...decodeFile(part.file, `${path}.${i}.file`), ...marker });
    } else if (!isBlank(part.text)) {
      blocks.push({ type: 'text', text: part.text, ...marker });
    }
  }
  return blocks;
}

export function decodeTexts(content: string | readonly AssistantPart[]): TextBlock[] {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return parts.flatMap((part) =>
    part.type === 'text' && !isBlank(part.text)
      ? [{ type: part.type, text: part.text, ...decodeMarker(part) }]
      : [],
  );
}

/**
 * Reads a cache marker as clients of other gateways write it, on parts, messages, tools or whole
 * requests. Any other value is not a marker.
 */
export function decodeCacheControl(control: unknown): CacheControl | undefined {
  if (!isObject(control) || control['type'] !== 'ephemeral') return undefined;
  const { ttl } = control;
  return { type: 'ephemeral', ...((ttl === '5m' || ttl === '1h') && { ttl }) };
}

/** Returns the marker field for a block, if the part, message or tool is marked. */
export function decodeMarker({ cache_control: marked }: { readonly cache_control?: unknown }) {
  const control = decodeCacheControl(marked);
  return control === undefined ? undefined : { cache_control: control };
}

/** Puts the marker of a message on the message's last block, unless that block has its own. */
export function markLast<Block extends ContentBlock>(
  blocks: readonly Block[],
  message: { readonly cache_control?: unknown },
): readonly Block[] {
  const marker = decodeMarker(message);
  const last = blocks.at(-1);
  if (marker === undefined || last === undefined) return blocks;
  return [...blocks.slice(0, -1), { ...marker, ...last }];
}

interface DataUrl {
  readonly mediaType: string;
  readonly data: string;
}

function readDataUrl(url: string): DataUrl | undefined {
  const comma = url.indexOf(',');
  const head = url.slice(0, Math.max(comma, 0)).toLowerCase();
  if (!head.startsWith('data:') || !head.endsWith(';base64')) return undefined;
  const mediaType = head.slice('data:'.length).split(';', 1)[0] ?? '';
  return { mediaType, data: url.slice(comma + 1) };
}

export function decodeImage(url: string, path: string): OtherBlock {
  if (isHttpUrl(url)) return { type: 'image', source: { type: 'url', url } };
  const read = readDataUrl(url);
  if (read === undefined) {
    const message = 'Input should be an http(s) URL or a data URL in base64';
    throw refuseField({ path, kind: 'invalid', message });
  }
  const mediaType = read.mediaType === 'image/jpg' ? 'image/jpeg' : read.mediaType;
  if (!IMAGE_TYPES.includes(mediaType)) {
    const message = `The image should be one of ${IMAGE_TYPES.join(', ')}`;
    throw refuseField({ path, kind: 'invalid', message });
  }
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: read.data } };
}

/**
 * Files by id are refused: an id names a file of one account at a vendor, which every customer of
 * the gateway could read.
 */
export function decodeFile(
  { file_data: data, file_id: id, filename }: FilePart['file'],
  path: string,
): OtherBlock {
  // Beside a file it would let the upstream choose which of the two it reads.
  if (data) refuseId(id, path);
  const title = filename ? { title: filename.slice(0, TITLE_CHARS_MAX) } : undefined;
  if (data && isHttpUrl(data)) {
    return { type: 'document', source: { type: 'url', url: data }, ...title };
  }
  const read = data ? readDataUrl(data) : undefined;
  if (read?.mediaType !== PDF_TYPE) {
    const message = `Input should be a data URL of ${PDF_TYPE} in base64, or an http(s) URL of a PDF; files by id are not supported`;
    throw refuseField({ path: `${path}.file_data`, kind: 'invalid', message });
  }
  const source = { type: 'base64', media_type: PDF_TYPE, data: read.data };
  return { type: 'document', source, ...title };
}

/** Throws if a part has an id of a file. */
export function refuseId(id: unknown, path: string): void {
  if (id == null) return;
  const message = 'files by id are not supported';
  throw refuseField({ path: `${path}.file_id`, kind: 'invalid', message });
}
