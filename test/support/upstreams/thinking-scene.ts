import type OpenAI from 'openai';
import { expect } from 'vitest';

/** Two vendors of each kind whose models think, and one that takes no thoughts back. */
const VENDORS = ['first-native', 'second-native', 'first-responses', 'second-responses'];
export const THOUGHTLESS = 'no-chat';
type Routes = Readonly<Record<string, readonly string[]>>;
const EACH: Routes = Object.fromEntries(VENDORS.map((name) => [name, [name]]));
export const ROUTES: Routes = {
  ...EACH,
  'either-native': ['first-native', 'second-native'],
  'either-responses': ['first-responses', 'second-responses'],
  'ranked-native': ['first-native', 'second-native'],
  'ranked-responses': ['first-responses', 'second-responses'],
  'moved-native': ['first-native'],
  'moved-responses': ['first-responses'],
};
/** What has become of the routes at the other node. */
export const LATER_ROUTES: Routes = {
  ...EACH,
  'ranked-native': ['second-native'],
  'ranked-responses': ['second-responses'],
  'moved-native': [THOUGHTLESS],
  'moved-responses': [THOUGHTLESS],
};

/** The settings of a node in front of vendors that have their names in their paths. */
export function configOf(vendorsUrl: string, routes: Routes): string {
  const rest = 'max_output_tokens: 1000, price: {input: 1, output: 5}';
  const kindOf = (name: string) => name.split('-')[1];
  return [
    'workers: 1',
    'models:',
    ...Object.entries(routes).map(([id, names]) => {
      const all = names.map((name, i) => {
        const priority = id.startsWith('ranked') ? i + 1 : 1;
        return `{upstream: ${name}, priority: ${priority}}`;
      });
      return `  - {id: ${id}, ${rest}, routes: [${all.join(', ')}]}`;
    }),
    'upstreams:',
    ...[...VENDORS, THOUGHTLESS].map(
      (name) => `  - {name: ${name}, kind: ${kindOf(name)}, url: "${vendorsUrl}/${name}"}`,
    ),
    '',
  ].join('\n');
}

export const QUESTION = { role: 'user' as const, content: 'How is the weather in Oslo?' };
/** It ends the turn of the model. */
export const NEXT = { role: 'user' as const, content: 'And tomorrow?' };
const ASKED = {
  reasoning: { effort: 'high' as const, summary: 'auto' as const },
  tools: [
    {
      type: 'function' as const,
      name: 'get_weather',
      strict: false,
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  ],
};

export type Items = OpenAI.Responses.ResponseInput;

export interface AskOptions {
  readonly store?: boolean;
  readonly previous?: string;
}

/** Asks a model that thinks and has one tool. */
export async function askThinker(
  { responses }: OpenAI,
  order: { readonly model: string; readonly input: Items },
  isStream: boolean,
  { store = false, previous }: AskOptions = {},
) {
  const before = previous === undefined ? {} : { previous_response_id: previous };
  const asked = { ...ASKED, ...order, store, ...before };
  return isStream
    ? await responses.stream(asked).finalResponse()
    : await responses.create({ ...asked, stream: false });
}

export const RESULT = { type: 'function_call_output' as const, output: '7' };

export async function expectUnknown(answer: Promise<unknown>): Promise<void> {
  await expect(answer).rejects.toMatchObject({
    status: 400,
    code: 'invalid_encrypted_content',
    param: 'input[1].encrypted_content',
    message: expect.stringMatching(/Leave the item out, and the model goes on without/),
  });
}

export function sealedOf(items: Items): string {
  const item = items.find((other) => other.type === 'reasoning');
  return String(item !== undefined && 'encrypted_content' in item && item.encrypted_content);
}

export const reseal = (items: Items, sealed: string): Items =>
  items.map((item) => (item.type === 'reasoning' ? { ...item, encrypted_content: sealed } : item));
