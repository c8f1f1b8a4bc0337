import {
  assistant,
  BODY,
  cached,
  image,
  MESSAGES,
  result,
  text,
  tool,
  use,
  user,
} from './request-parts.ts';

const without = (name: string) =>
  Object.fromEntries(Object.entries(BODY).filter(([field]) => field !== name));

const ORPHAN =
  'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.';
const UNANSWERED =
  'Each `tool_use` block must have a corresponding `tool_result` block in the next message.';

interface RefusedRequest {
  readonly says: string;
  readonly param: string;
  readonly to: unknown;
}

/** Clients match on these texts: not a word of them may change. */
export const REFUSED: readonly RefusedRequest[] = [
  ...['model', 'messages', 'max_tokens'].map((name) => ({
    says: `${name}: Field required`,
    param: name,
    to: without(name),
  })),
  {
    says: 'max_tokens: Input should be a valid integer',
    param: 'max_tokens',
    to: { ...BODY, max_tokens: null },
  },
  {
    says: 'max_tokens: Input should be a valid integer',
    param: 'max_tokens',
    to: { ...BODY, max_tokens: Number.POSITIVE_INFINITY },
  },
  {
    says: 'max_tokens: Input should be greater than or equal to 1',
    param: 'max_tokens',
    to: { ...BODY, max_tokens: 0 },
  },
  {
    says: 'temperature: Input should be less than or equal to 1',
    param: 'temperature',
    to: { ...BODY, temperature: 1.1 },
  },
  {
    says: 'temperature: Input should be a valid number',
    param: 'temperature',
    to: { ...BODY, temperature: Number.POSITIVE_INFINITY },
  },
  {
    says: 'top_k: Input should be greater than or equal to 0',
    param: 'top_k',
    to: { ...BODY, top_k: -2 },
  },
  {
    says: 'messages: at least one message is required',
    param: 'messages',
    to: { ...BODY, messages: [] },
  },
  {
    says: "messages.0.role: Input should be 'user', 'assistant' or 'system'",
    param: 'messages.0.role',
    to: { ...BODY, messages: [{ role: 'tool', content: 'Hello' }] },
  },
  {
    says: 'messages.0.content.1.text: Input should be a valid string',
    param: 'messages.0.content.1.text',
    to: { ...BODY, messages: [user(text('Hello'), text(1))] },
  },
  {
    says: 'messages.0.content.0.type: Field required',
    param: 'messages.0.content.0.type',
    to: { ...BODY, messages: [user({ text: 'Hello' })] },
  },
  {
    says: "system.0.type: Input should be 'text'",
    param: 'system.0.type',
    to: { ...BODY, system: [image('image/png', '')] },
  },
  {
    says: 'messages: text content blocks must be non-empty',
    param: 'messages',
    to: { ...BODY, messages: [user(text('Hello'), text(''))] },
  },
  {
    says: 'messages: text content blocks must contain non-whitespace text',
    param: 'messages',
    to: { ...BODY, messages: [{ role: 'user', content: ' \n' }] },
  },
  {
    says: 'system: text content blocks must be non-empty',
    param: 'system',
    to: { ...BODY, system: [text('')] },
  },
  {
    says: 'messages.0: all messages must have non-empty content except for the optional final assistant message',
    param: 'messages.0',
    to: { ...BODY, messages: [{ role: 'user', content: '' }] },
  },
  {
    says: 'messages: final assistant content cannot end with trailing whitespace',
    param: 'messages',
    to: { ...BODY, messages: [...MESSAGES, { role: 'assistant', content: 'Well, ' }] },
  },
  {
    says: 'messages: final assistant content cannot end with trailing whitespace',
    param: 'messages',
    to: { ...BODY, messages: [...MESSAGES, assistant(text('Well,\n'))] },
  },
  {
    says: 'stop_sequences: each stop sequence must contain non-whitespace',
    param: 'stop_sequences',
    to: { ...BODY, stop_sequences: ['END', '\n'] },
  },
  {
    says: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    param: 'cache_control',
    to: {
      ...BODY,
      tools: [{ ...tool('look'), ...cached() }],
      system: [text('Be brief.', cached())],
      messages: [user(text('a', cached()), text('b', cached()), text('c', cached()))],
    },
  },
  {
    says: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    param: 'cache_control',
    to: {
      ...BODY,
      ...cached(),
      messages: [user(...['a', 'b', 'c', 'd'].map((word) => text(word, cached())), text('e'))],
    },
  },
  {
    says: "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
    param: 'messages.0.content.0.cache_control.ttl',
    to: {
      ...BODY,
      system: [text('Be brief.', cached())],
      messages: [user(text('a', cached('1h')))],
    },
  },
  {
    says: `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: toolu_x. ${UNANSWERED}`,
    param: 'messages.1',
    to: { ...BODY, messages: [...MESSAGES, assistant(use('toolu_x')), user(text('So?'))] },
  },
  {
    says: `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: toolu_x, toolu_z. ${UNANSWERED}`,
    param: 'messages.1',
    to: {
      ...BODY,
      messages: [
        ...MESSAGES,
        assistant(use('toolu_x'), use('toolu_y'), use('toolu_z')),
        user(result('toolu_y')),
      ],
    },
  },
  {
    says: `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: toolu_x. ${UNANSWERED}`,
    param: 'messages.1',
    to: { ...BODY, messages: [...MESSAGES, assistant(use('toolu_x'))] },
  },
  {
    says: `messages.2.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: X. ${ORPHAN}`,
    param: 'messages.2.content.0',
    to: { ...BODY, messages: [...MESSAGES, assistant(text('Hi')), user(result('X'))] },
  },
  {
    says: 'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: X',
    param: 'messages.2.content.1',
    to: {
      ...BODY,
      messages: [...MESSAGES, assistant(use('X')), user(result('X'), result('X'))],
    },
  },
  {
    says: '`tool_use` ids must be unique',
    param: 'messages.1',
    to: {
      ...BODY,
      messages: [...MESSAGES, assistant(use('X'), use('X')), user(result('X'))],
    },
  },
  {
    says: 'messages.0: `tool_use` blocks can only be in `assistant` messages',
    param: 'messages.0',
    to: { ...BODY, messages: [user(use('X'))] },
  },
  {
    says: 'tool_choice may only be specified while providing tools.',
    param: 'tool_choice',
    to: { ...BODY, tool_choice: { type: 'auto' } },
  },
  {
    says: "Tool 'find' not found in provided tools",
    param: 'tool_choice',
    to: { ...BODY, tools: [tool('look')], tool_choice: { type: 'tool', name: 'find' } },
  },
  {
    says: "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'",
    param: 'tool_choice.type',
    to: { ...BODY, tools: [tool('look')], tool_choice: { type: 'required' } },
  },
  {
    says: 'tools: Tool names must be unique.',
    param: 'tools',
    to: { ...BODY, tools: [tool('look'), tool('look')] },
  },
  {
    says: 'tools.0.name: Field required',
    param: 'tools.0.name',
    to: { ...BODY, tools: [{ input_schema: { type: 'object' } }] },
  },
  {
    says: 'tools.0.input_schema: Field required',
    param: 'tools.0.input_schema',
    to: { ...BODY, tools: [{ name: 'look' }] },
  },
  {
    says: '`max_tokens` must be greater than `thinking.budget_tokens`.',
    param: 'max_tokens',
    to: { ...BODY, thinking: { type: 'enabled', budget_tokens: 2_048 } },
  },
  {
    says: 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
    param: 'thinking.enabled.budget_tokens',
    to: { ...BODY, thinking: { type: 'enabled', budget_tokens: 1_023 } },
  },
  {
    says: '`temperature` may only be set to 1 when thinking is enabled.',
    param: 'temperature',
    to: { ...BODY, thinking: { type: 'enabled', budget_tokens: 1_024 }, temperature: 0.5 },
  },
  {
    says: 'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6096280 bytes > 5242880 bytes',
    param: 'messages.0.content.1.image.source.base64',
    to: {
      ...BODY,
      messages: [user(text('See'), image('image/png', 'A'.repeat(6_096_280)))],
    },
  },
  {
    says: "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    param: 'messages.0.content.0.image.source.base64.media_type',
    to: { ...BODY, messages: [user(image('image/bmp', ''))] },
  },
];
