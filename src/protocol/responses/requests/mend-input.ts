import { isObject } from '../../schema.ts';
import type { UpstreamOpener } from '../../upstream-call.ts';
import { openItem } from './open-item.ts';

/** Calls of tools that a vendor runs. No model here has such tools, so these are left out. */
const HOSTED_ITEM =
  /^(web_search|file_search|code_interpreter|computer|image_generation|mcp|local_shell|shell|apply_patch|tool_search)_/;

const OFFERED_TOOLS: readonly unknown[] = ['function', 'custom', 'namespace'];

/**
 * Returns the input with thoughts as their upstream takes them back, and without what no model here
 * may get. Returns the same list if all of it stays as it is.
 */
export function mendInput(input: unknown, reasoning: UpstreamOpener | undefined): unknown {
  if (!Array.isArray(input) || !input.some(needsMending)) return input;
  return input.flatMap((item: unknown) => {
    if (!isObject(item) || !needsMending(item)) return [item];
    if (item['type'] === 'additional_tools') return [{ ...item, tools: mendTools(item['tools']) }];
    if (item['type'] !== 'reasoning') return [];
    return openItem(item, reasoning) ?? [];
  });
}

/** Leaves out tools that a vendor runs. Returns the same list if there are none. */
export function mendTools(tools: unknown): unknown {
  if (!Array.isArray(tools) || tools.every(isOffered)) return tools;
  return tools.flatMap((tool: unknown) => {
    if (!isObject(tool) || !OFFERED_TOOLS.includes(tool['type'])) return [];
    return [isOffered(tool) ? tool : { ...tool, tools: mendTools(tool['tools']) }];
  });
}

function isOffered(tool: unknown): boolean {
  if (!isObject(tool) || !OFFERED_TOOLS.includes(tool['type'])) return false;
  const { tools } = tool;
  return tool['type'] !== 'namespace' || !Array.isArray(tools) || tools.every(isOffered);
}

function needsMending(item: unknown): boolean {
  if (!isObject(item)) return false;
  const { type } = item;
  if (type === 'reasoning') return true;
  if (type === 'additional_tools') return mendTools(item['tools']) !== item['tools'];
  return typeof type === 'string' && HOSTED_ITEM.test(type);
}
