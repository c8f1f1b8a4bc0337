import type { UserPart } from '../../chat/requests/chat-request.ts';
import { encodeBlock } from '../../chat/requests/encode-content.ts';
import { refuseKind } from '../../fields/refuse-kind.ts';
import type { ContentBlock } from '../../inference.ts';
import { type Json, readObject, readText } from '../../json/upstream-json.ts';
import type { UpstreamCall } from '../../upstream-call.ts';

/**
 * Turns blocks into parts of a user's message or of a result. `path` is the place of all blocks, of
 * which the first has the number `first`.
 */
export function encodeParts(
  blocks: readonly ContentBlock[],
  path: string,
  first: number,
  accepts: UpstreamCall['accepts'],
): Json[] {
  return blocks.flatMap((block, i) => {
    const place = `${path}.${first + i}`;
    const file = encodeFileByUrl(block, place, accepts);
    return file === undefined ? encodeBlock(block, place, accepts).map(translate) : [file];
  });
}

/** The chat format has no place for such a file. */
function encodeFileByUrl(
  block: ContentBlock,
  path: string,
  accepts: UpstreamCall['accepts'],
): Json | undefined {
  const source = block.type === 'document' ? readObject(block, 'source') : {};
  if (source['type'] !== 'url') return undefined;
  if (accepts?.has('pdf') !== true) throw refuseKind(path, 'PDFs');
  return { type: 'input_file', file_url: readText(source, 'url') };
}

function translate(part: UserPart): Json {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image_url':
      return { type: 'input_image', image_url: part.image_url.url, detail: 'auto' };
    case 'file': {
      const { filename, file_data } = part.file;
      return { type: 'input_file', filename, file_data };
    }
  }
}
