import { isObject } from './schema.ts';

/** By which clients of either format ask for thoughts, whatever their vendor calls them. */
const FIELDS = ['thinking', 'reasoning_effort', 'reasoning', 'enable_thinking', 'output_config'];
const OFF: readonly unknown[] = [undefined, null, false, 'none', 'disabled'];

/** Whether a request asks its model to think before it answers, which nobody but its upstream may see. */
export function asksToThink(body: Readonly<Record<string, unknown>>): boolean {
  for (const name of FIELDS) {
    const value = body[name];
    if (value !== undefined && asksBy(name, value)) return true;
  }
  return false;
}

function asksBy(name: string, value: unknown): boolean {
  if (!isObject(value)) return !OFF.includes(value);
  const { type, effort, enabled } = value;
  if (name === 'output_config') return !OFF.includes(effort);
  return type !== 'disabled' && enabled !== false && effort !== 'none';
}
