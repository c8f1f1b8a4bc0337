import { decodeEvent, type LimitEvent } from '../../../../src/events/limit-event.ts';
import { type openScripts, redisKeys } from '../open-scripts.ts';

/** Reads the events of a bucket that wait to be taken out, and what keeps them from a repeat. */
export function openEventReader({ send }: Pick<ReturnType<typeof openScripts>, 'send'>) {
  const readEvents = async (): Promise<LimitEvent[]> => {
    const reply = await send('xrange', redisKeys.events, '-', '+');
    return (reply as [string, string[]][]).map(
      ([, fields]) => decodeEvent(String(fields[1])) as LimitEvent,
    );
  };
  return {
    readEvents,
    told: async () => (await readEvents()).map(({ type, counted }) => `${type} ${counted}`),
    toldMarks: async () => (await send('keys', redisKeys.told('*'))) as string[],
  };
}
