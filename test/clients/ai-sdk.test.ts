import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  defaultSettingsMiddleware,
  generateObject,
  generateText,
  stepCountIs,
  streamText,
  tool,
  wrapLanguageModel,
} from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const gateway = useGateway({ config: FAST_CONFIG });

const MODEL = 'llm-haiku-4.5';
const PROVIDERS = {
  anthropic: () =>
    createAnthropic({ apiKey: gateway().key(), baseURL: `${gateway().url}/v1` })(MODEL),
  openai: () =>
    createOpenAI({ apiKey: gateway().key(), baseURL: `${gateway().url}/v1` }).chat(MODEL),
  'openai (default)': () =>
    wrapLanguageModel({
      model: createOpenAI({ apiKey: gateway().key(), baseURL: `${gateway().url}/v1` })(MODEL),
      middleware: defaultSettingsMiddleware({
        settings: { providerOptions: { openai: { store: false } } },
      }),
    }),
  'openai-compatible': () =>
    createOpenAICompatible({
      name: 'tollgate',
      apiKey: gateway().key(),
      baseURL: `${gateway().url}/v1`,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })(MODEL),
};

describe.each(Object.entries(PROVIDERS))(
  'the AI SDK with its %s provider',
  (_name, createModel) => {
    it('generates text with usage', async () => {
      const result = await generateText({ model: createModel(), prompt: 'Hello!', maxRetries: 0 });
      expect(result.text).toMatch(/\w/);
      expect(result.finishReason).toBe('stop');
      expect(result.usage.outputTokens).toBeGreaterThan(0);
    });

    it('streams text with usage', async () => {
      const result = streamText({ model: createModel(), prompt: 'Hello!', maxRetries: 0 });
      let text = '';
      for await (const piece of result.textStream) text += piece;
      expect(text).toMatch(/\w/);
      expect(await result.finishReason).toBe('stop');
      expect((await result.usage).inputTokens).toBeGreaterThan(0);
    });

    it('calls a tool and goes on with its result', async () => {
      const asked: string[] = [];
      const result = await generateText({
        model: createModel(),
        prompt: '[[tool get_weather {"city": "Rome"}]]',
        tools: {
          get_weather: tool({
            description: 'The weather at a place',
            inputSchema: z.object({ city: z.string() }),
            execute: async ({ city }) => {
              asked.push(city);
              return 'sunny';
            },
          }),
        },
        stopWhen: stepCountIs(3),
        maxRetries: 0,
      });
      expect(asked).toEqual(['Rome']);
      expect(result.steps).toHaveLength(2);
      expect(result.finishReason).toBe('stop');
    });

    it('generates an object that satisfies its schema', async () => {
      const { object } = await generateObject({
        model: createModel(),
        prompt: 'A person, please.',
        schema: z.object({
          name: z.string(),
          age: z.number().int().min(0),
          tags: z.array(z.string()),
        }),
        maxRetries: 0,
      });
      expect(object).toMatchObject({ name: expect.any(String), age: expect.any(Number) });
    });

    it('passes the words of an error on', async () => {
      const failed = generateText({ model: createModel(), prompt: '[[error 400]]', maxRetries: 0 });
      await expect(failed).rejects.toBeInstanceOf(APICallError);
      await expect(failed).rejects.toMatchObject({
        statusCode: 400,
        message: expect.stringMatching(/\w/),
      });
    });
  },
);
