import { explainKind, findPricedTool } from '../protocol/fields/check-fields.ts';
import type { Tool } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { Price } from './catalogue.ts';

/**
 * The limit for one request with all of its tools: for each search, the price of a whole window is
 * held.
 */
const SEARCHES_MAX = 100;

/**
 * Returns how often the vendor may search the web for the model. Throws if searches have no price
 * or no bound.
 */
export function boundSearches(tools: readonly Tool[], price: Price): number {
  let searches = 0;
  for (let i = 0; i < tools.length; i++) {
    const tool = tools[i];
    const rule = tool && findPricedTool(tool);
    if (tool === undefined || rule === undefined) continue;
    if (price.webSearch === undefined) throw refuse(`tools.${i}.type`, explainKind(rule));
    searches += readUses(tool, `tools.${i}.max_uses`);
    if (searches > SEARCHES_MAX) {
      throw refuse(
        `tools.${i}.max_uses`,
        `a request may ask for ${SEARCHES_MAX} searches at most, with all of its tools`,
      );
    }
  }
  return searches;
}

function readUses({ max_uses: uses }: Tool, path: string): number {
  if (typeof uses === 'number' && Number.isInteger(uses) && uses > 0) return uses;
  throw refuse(
    path,
    'each search is billed: say how many there may be, as a whole number of at least 1',
  );
}

function refuse(path: string, message: string): Refusal {
  return new Refusal('invalid_request', `${path}: ${message}`, { param: path });
}
