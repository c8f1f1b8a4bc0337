import { beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../../support/upstreams/start-scripted-upstream.ts';
import { answerOf, errorBody, goodAnswer } from '../../support/upstreams/upstream-answers.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

const PDF = Buffer.from('%PDF-1.4').toString('base64');
const PARTS = {
  native: {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: PDF },
  },
  chat: {
    type: 'file',
    file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
  },
};
const TEXT = { type: 'text', text: 'What does it say?' };
const PATHS = { native: '/v1/messages', chat: '/v1/chat/completions' };

/** The name of each upstream begins with its kind. */
const UPSTREAMS = {
  'native-plain': '[]',
  'chat-plain': '[]',
  'chat-plainer': '[]',
  'native-pdf': '[pdf]',
  'chat-pdf': '[pdf]',
  'chat-out': '[pdf]',
};
const MODELS = {
  'chat-then-native': ['chat-plain', 'native-pdf'],
  'chat-then-chat': ['chat-plain', 'chat-pdf'],
  'native-then-chat': ['native-plain', 'chat-pdf'],
  none: ['chat-plain', 'chat-plainer'],
  out: ['chat-plain', 'chat-out'],
};

type ClientFormat = keyof typeof PARTS;

const cleanUp = useCleanUp();
let upstream: ScriptedUpstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startScriptedUpstream(cleanUp);
  gateway = await startGateway({ config: encodeConfig(upstream.url), cleanUp });
  for (const name of Object.keys(UPSTREAMS)) {
    const kind = name.startsWith('chat') ? 'chat' : 'native';
    upstream.play(`/${name}`, (_n, { body }) => [
      name === 'chat-out'
        ? answerOf(503, errorBody(kind, 'I am out.'))
        : goodAnswer(kind, body.includes('"stream":true'), name),
    ]);
  }
});

function encodeConfig(url: string): string {
  return [
    'workers: 1',
    'models:',
    ...Object.entries(MODELS).map(([id, [first, second]]) => {
      const routes = `[{upstream: ${first}}, {upstream: ${second}, priority: 2}]`;
      return `  - {id: ${id}, max_output_tokens: 1000, price: {input: 1, output: 5}, routes: ${routes}}`;
    }),
    'upstreams:',
    ...Object.entries(UPSTREAMS).map(
      ([name, accepts]) =>
        `  - {name: ${name}, kind: ${name.replace(/-.*/, '')}, url: "${url}/${name}", accepts: ${accepts}}`,
    ),
    '',
  ].join('\n');
}

function headers(): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-api-key': gateway.key(),
    'llm-version': '2023-06-01',
  };
}

interface Asked {
  readonly format: ClientFormat;
  readonly model: keyof typeof MODELS;
  readonly parts: readonly object[];
  readonly isStream?: boolean;
}

async function ask({ format, model, parts, isStream = false }: Asked) {
  const response = await fetch(`${gateway.url}${PATHS[format]}`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify({
      ...{ model, max_tokens: 100, stream: isStream },
      messages: [{ role: 'user', content: parts }],
    }),
  });
  return { status: response.status, text: await response.text() };
}

function countCalls(name: keyof typeof UPSTREAMS): number {
  return upstream.requests(`/${name}`).length;
}

const MODELS_WITH_PDFS = ['chat-then-native', 'chat-then-chat', 'native-then-chat'] as const;

describe('a PDF', () => {
  for (const format of ['native', 'chat'] as const) {
    // Native upstreams decide themselves what they accept from native clients.
    const models = MODELS_WITH_PDFS.filter((id) => format === 'chat' || id !== 'native-then-chat');
    for (const model of models) {
      it.each([false, true])(
        `of a ${format} client goes past the first route of ${model}, streamed: %s`,
        async (isStream) => {
          const [first, second] = MODELS[model] as [keyof typeof UPSTREAMS, string];
          const callsBefore = countCalls(first);
          const withPdf = await ask({ format, model, isStream, parts: [PARTS[format], TEXT] });
          expect(withPdf).toMatchObject({ status: 200, text: expect.stringContaining(second) });
          expect(countCalls(first)).toBe(callsBefore);
          const without = await ask({ format, model, isStream, parts: [TEXT] });
          expect(without).toMatchObject({ status: 200, text: expect.stringContaining(first) });
        },
      );
    }

    it(`of a ${format} client is refused where no route takes it`, async () => {
      const { status, text } = await ask({ format, model: 'none', parts: [PARTS[format]] });
      expect(status).toBe(400);
      expect(text).toContain('this model does not take PDFs');
      expect(countCalls('chat-plainer')).toBe(0);
    });

    it(`of a ${format} client gets 503 while those that take it are out, and others are served`, async () => {
      const callsBefore = countCalls('chat-plain');
      await waitUntil(async () => {
        const { status, text } = await ask({ format, model: 'out', parts: [PARTS[format]] });
        expect(status).toBeGreaterThanOrEqual(500);
        const isOut = text.includes('No upstream of out that takes PDFs can be reached');
        return isOut && status === 503;
      }, 'its health is known');
      expect(countCalls('chat-plain')).toBe(callsBefore);
      expect((await ask({ format, model: 'out', parts: [TEXT] })).status).toBe(200);
    });
  }

  it('in the result of a tool goes past the first route too', async () => {
    const use = { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [PARTS.native] };
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify({
        ...{ model: 'chat-then-native', max_tokens: 100 },
        tools: [{ name: 'read', input_schema: { type: 'object' } }],
        messages: [
          { role: 'user', content: 'Read it.' },
          { role: 'assistant', content: [use] },
          { role: 'user', content: [result] },
        ],
      }),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('native-pdf');
  });
});
