import type { ContentBlock, OtherBlock, TextBlock } from '../inference.ts';
import type { TextPart, UserPart } from './chat-request.ts';
import { refuseField } from './refuse-field.ts';

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/** A text of nothing but white space says nothing, and models refuse it. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Parts as blocks, those that say nothing left out; `path` is where the parts stand. */
export function decodeParts(parts: readonly UserPart[], path: string): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  for (const [i, part] of parts.entries()) {
    if (part.type === 'image_url') {
      blocks.push(decodeImage(part.image_url.url, `${path}.${i}.image_url.url`));
    } else if (!isBlank(part.text)) {
      blocks.push({ type: 'text', text: part.text });
    }
  }
  return blocks;
}

export function decodeTexts(
  content: string | readonly (TextPart | { readonly type: 'refusal' })[],
): TextBlock[] {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return parts.flatMap((part) =>
    part.type === 'text' && !isBlank(part.text) ? [{ type: part.type, text: part.text }] : [],
  );
}

function decodeImage(url: string, path: string): OtherBlock {
  if (/^https?:\/\//i.test(url)) return { type: 'image', source: { type: 'url', url } };

  const comma = url.indexOf(',');
  const head = url.slice(0, Math.max(comma, 0)).toLowerCase();
  if (!head.startsWith('data:') || !head.endsWith(';base64')) {
    const message = 'Input should be an http(s) URL or a data URL in base64';
    throw refuseField({ path, kind: 'invalid', message });
  }
  const named = head.slice('data:'.length).split(';', 1)[0];
  const mediaType = named === 'image/jpg' ? 'image/jpeg' : named;
  if (mediaType === undefined || !IMAGE_TYPES.includes(mediaType)) {
    const message = `The image should be one of ${IMAGE_TYPES.join(', ')}`;
    throw refuseField({ path, kind: 'invalid', message });
  }
  return {
    type: 'image',
    source: { type: 'base64', media_type: mediaType, data: url.slice(comma + 1) },
  };
}
