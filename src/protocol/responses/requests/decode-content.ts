import { decodeFile, decodeImage, refuseId } from '../../chat/requests/decode-content.ts';
import { refuseField } from '../../chat/requests/refuse-field.ts';
import { isBlank } from '../../fields/is-blank.ts';
import type { ContentBlock } from '../../inference.ts';
import { isObject } from '../../schema.ts';
import type { InputPart, PartsOrText } from './responses-request.ts';

/** Turns parts into blocks and leaves out blank texts. `path` is the place of the parts. */
export function decodeParts(content: PartsOrText, path: string): ContentBlock[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }];
  return content.flatMap((part, i): ContentBlock[] => decodePart(part, `${path}.${i}`));
}

/** The texts alone: nothing else can be an instruction, or what a model said. */
export function decodeTexts(content: PartsOrText, path: string): string[] {
  return decodeParts(content, path).flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

function decodePart(part: InputPart, path: string): ContentBlock[] {
  switch (part.type) {
    case 'input_image': {
      const image = decodeImage(readImageUrl(part.image_url, path), `${path}.image_url`);
      refuseId(part.file_id, path);
      return [image];
    }
    case 'input_file': {
      const { file_data: data, file_url: url, filename, ...rest } = part;
      if (data && url) throw refuseSource(`${path}.file_url`, 'file_data has a file already');
      const file = { ...rest, file_data: data || url || null, filename: filename ?? null };
      return [decodeFile(file, path)];
    }
    default: {
      const text = part.type === 'refusal' ? part.refusal : part.text;
      return isBlank(text) ? [] : [{ type: 'text', text }];
    }
  }
}

/** Some clients write the address as the chat format has it. */
function readImageUrl(image: unknown, path: string): string {
  const url = isObject(image) ? image['url'] : image;
  if (typeof url === 'string') return url;
  throw refuseSource(
    `${path}.image_url`,
    'Input should be an http(s) URL or a data URL; files by id are not supported',
  );
}

function refuseSource(path: string, message: string): Error {
  return refuseField({ path, kind: 'invalid', message });
}
