import { isObject } from './schema.ts';

const OFF: readonly unknown[] = [undefined, null, false, 'none', 'disabled'];

/**
 * Whether a request asks its model to think before it answers, which only the upstream can see, or
 * to hide what it thinks. It knows the fields of all formats, under all names that vendors use.
 * Reading each field by its name is faster than looping over a list of names.
 */
export function asksToThink(body: Readonly<Record<string, unknown>>): boolean {
  return (
    asksBy(body['thinking']) ||
    asksBy(body['reasoning_effort']) ||
    asksBy(body['reasoning']) ||
    asksBy(body['enable_thinking']) ||
    asksByTemplate(body['chat_template_kwargs']) ||
    asksByBudget(body['thinking_budget']) ||
    body['include_reasoning'] === false ||
    asksByEffort(body['output_config'])
  );
}

function asksBy(value: unknown): boolean {
  if (value === undefined) return false;
  if (!isObject(value)) return !OFF.includes(value);
  const { type, effort, enabled } = value;
  return type !== 'disabled' && enabled !== false && effort !== 'none';
}

function asksByTemplate(values: unknown): boolean {
  return isObject(values) && Boolean(values['enable_thinking'] || values['thinking']);
}

function asksByBudget(tokens: unknown): boolean {
  return tokens !== 0 && !OFF.includes(tokens);
}

function asksByEffort(config: unknown): boolean {
  if (config === undefined) return false;
  return !OFF.includes(isObject(config) ? config['effort'] : config);
}
