import { Refusal } from '../refusals.ts';
import { isObject } from '../schema.ts';

const ID_CHARS_MAX = 128;

/** From these words of the vendor, agents know that leaving thoughts out would help. */
const KNOWN_WORDS = 'Invalid `signature` in `thinking` block';

interface ThoughtPlace {
  readonly param: string;
  /** What a client leaves out to continue. */
  readonly advice: string;
}

/** Says where in its body a client has sent a thought, why it is refused, and what would help. */
export function refuseThought(body: unknown, sealed: string, why: string): Refusal {
  const { param, advice } = findPlace(body, sealed);
  const said = `${why}. ${advice}, and the model goes on without this thought.`;
  return new Refusal('unknown_thought', `${param}: ${KNOWN_WORDS}: ${said}`, {
    param,
    chatMessage: `Invalid value for '${param}': ${said}`,
  });
}

function findPlace(body: unknown, sealed: string): ThoughtPlace {
  const { input, messages, previous_response_id: previous } = isObject(body) ? body : {};
  const items = listOf(input);
  const place = items.findIndex((item) => isObject(item) && item['encrypted_content'] === sealed);
  if (place < 0) return { param: findBlock(messages, sealed), advice: 'Leave the block out' };
  if (previous == null) {
    return { param: `input[${place}].encrypted_content`, advice: 'Leave the item out' };
  }
  // The items of earlier answers come first, and their places mean nothing to a client.
  const item = items[place];
  const id = isObject(item) ? String(item['id']).slice(0, ID_CHARS_MAX) : '';
  const advice = `Send the conversation as \`input\`, without the item '${id}'`;
  return { param: 'previous_response_id', advice };
}

function findBlock(messages: unknown, sealed: string): string {
  for (const [i, message] of listOf(messages).entries()) {
    const blocks = listOf(isObject(message) ? message['content'] : undefined);
    const place = blocks.findIndex((block) => isObject(block) && block['signature'] === sealed);
    if (place >= 0) return `messages.${i}.content.${place}.signature`;
  }
  return 'messages';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
