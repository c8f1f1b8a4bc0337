/** Parts of native requests in a short form. */

export const MESSAGES = [{ role: 'user', content: 'Hello' }];
export const BODY = { model: 'sonnet', max_tokens: 2_048, messages: MESSAGES };

export const user = (...content: unknown[]) => ({ role: 'user', content });
export const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
export const text = (value: unknown, more = {}) => ({ type: 'text', text: value, ...more });
export const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
export const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'Seen' });
export const image = (media_type: string, data: string) => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
});
export const cached = (ttl?: string) => ({
  cache_control: { type: 'ephemeral', ...(ttl !== undefined && { ttl }) },
});
export const tool = (name: string) => ({ name, input_schema: { type: 'object' } });
