export interface CodeExample {
  readonly title: string;
  readonly text: string;
}

/** The gateway's address for the reader of the page, without a slash at its end. */
type BaseUrl = string;

/** Used in examples until a key says which models it may use. */
export const MODEL_UNKNOWN = 'MODEL';

export const KEY_VARIABLE = 'export TOLLGATE_KEY=sk-gw2-…';

/** Each example runs as it is, if `TOLLGATE_KEY` is set and the library is installed. */
export function createNativeExamples(baseUrl: BaseUrl, model: string): readonly CodeExample[] {
  return [
    {
      title: 'Native messages with curl',
      text: `curl ${baseUrl}/v1/messages \\
  -H "x-api-key: $TOLLGATE_KEY" \\
  -H 'llm-version: 2023-06-01' \\
  -H 'content-type: application/json' \\
  -d '${describeRequest(model)}'
`,
    },
    {
      title: 'Native messages with @anthropic-ai/sdk',
      text: `import { env } from 'node:process';
import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({
  apiKey: env.TOLLGATE_KEY,
  baseURL: '${baseUrl}',
});
const message = await client.messages.create({
  model: '${model}',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(message.content[0].text);
`,
    },
  ];
}

export function createChatExamples(baseUrl: BaseUrl, model: string): readonly CodeExample[] {
  return [
    {
      title: 'Chat completions with curl',
      text: `curl ${baseUrl}/v1/chat/completions \\
  -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H 'content-type: application/json' \\
  -d '${describeRequest(model)}'
`,
    },
    {
      title: 'Chat completions with openai',
      text: `import { env } from 'node:process';
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: env.TOLLGATE_KEY,
  baseURL: '${baseUrl}/v1',
});
const completion = await client.chat.completions.create({
  model: '${model}',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(completion.choices[0].message.content);
`,
    },
  ];
}

export function createResponsesExamples(baseUrl: BaseUrl, model: string): readonly CodeExample[] {
  return [
    {
      title: 'Responses with curl',
      text: `curl ${baseUrl}/v1/responses \\
  -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"model": "${model}", "max_output_tokens": 200, "input": "Hello!"}'
`,
    },
    {
      title: 'Responses with openai',
      text: `import { env } from 'node:process';
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: env.TOLLGATE_KEY,
  baseURL: '${baseUrl}/v1',
});
const response = await client.responses.create({
  model: '${model}',
  max_output_tokens: 200,
  input: 'Hello!',
});
console.log(response.output_text);
`,
    },
  ];
}

function describeRequest(model: string): string {
  return `{"model": "${model}", "max_tokens": 200,
    "messages": [{"role": "user", "content": "Hello!"}]}`;
}
