import { findPricedTool } from '../../protocol/fields/check-fields.ts';
import type { Tool } from '../../protocol/inference.ts';
import type { Directives } from './parse-directives.ts';

/** Each call of a search tool counts as one search, up to its `max_uses`. Nothing is searched. */
export function countSearches(tools: readonly Tool[], directives: Directives): number {
  let searches = 0;
  for (const tool of tools) {
    if (findPricedTool(tool) === undefined) continue;
    const asked = directives.tools.filter(({ name }) => name === tool.name).length;
    searches += Math.min(asked, Number(tool.max_uses));
  }
  return searches;
}
