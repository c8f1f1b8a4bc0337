import type { NodeEvent } from '../../ops/schemas/event-schemas.ts';

/** Far more than any event has: beyond it the stream is not ours. */
const EVENT_CHARS_MAX = 4 * 1024 * 1024;

/** Takes text as it comes and answers the events that are complete with it. */
export function createEventSplitter(): (text: string) => NodeEvent[] {
  let rest = '';
  return (text) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > EVENT_CHARS_MAX) throw new Error('an event is too long');
    return blocks.flatMap(decodeEvent);
  };
}

/** A block without a type is a comment. */
function decodeEvent(block: string): NodeEvent[] {
  const event = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (event === undefined || data === undefined) return [];
  return [{ event, data: JSON.parse(data) } as NodeEvent];
}
