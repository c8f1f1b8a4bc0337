import type { NodeEvent } from '../../ops/schemas/event-schemas.ts';

/** Far above the size of any event. A longer text is not from a node. */
const EVENT_CHARS_MAX = 4 * 1024 * 1024;

/** Returns a function that takes text as it comes and returns the events that it completes. */
export function createEventSplitter(): (text: string) => NodeEvent[] {
  let rest = '';
  return (text) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > EVENT_CHARS_MAX) throw new Error('an event is too long');
    return blocks.flatMap(decodeEvent);
  };
}

/** A block without an event type is a comment. */
function decodeEvent(block: string): NodeEvent[] {
  const event = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (event === undefined || data === undefined) return [];
  return [{ event, data: JSON.parse(data) } as NodeEvent];
}
