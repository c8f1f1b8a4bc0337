import { z } from 'zod';
import { whoAnswer } from '../ops/schemas/answer-schemas.ts';
import { RELOAD_STATUSES } from '../ops/schemas/cluster-schemas.ts';
import { EVENT_SCHEMAS } from '../ops/schemas/event-schemas.ts';
import { packedTraffic } from './traffic.ts';

/** Longer messages are not read. */
const MESSAGE_CHARS_MAX = 256 * 1024;

const { change, reload, worker, upstream, limit } = EVENT_SCHEMAS;

/** Who a message is from: the node, and its run, since two nodes may have the same id. */
const sender = { node: z.string(), run: z.string() };

/** The schema of each message, by type. A message of a later version may have further fields. */
const MESSAGE_SCHEMAS = {
  /** The catalogue has this version now. */
  catalogue: z.object({ version: z.int().min(0) }),
  /** An operator was revoked, or a session has ended: this id may do nothing more. */
  access: z.object({ ended: z.string() }),
  /** The run is to reload its settings, unless the message is too late by the clock of Redis. */
  reload: z.object({
    ask: z.string(),
    to: z.string(),
    until_ms: z.number(),
    who: whoAnswer,
  }),
  reload_heard: z.object({ ask: z.string() }),
  reload_ended: z.object({
    ask: z.string(),
    status: z.enum(RELOAD_STATUSES),
    config_version: z.string().optional(),
    problems: z.array(z.string()).optional(),
  }),
  event: z.object({
    ...sender,
    event: z.discriminatedUnion('type', [
      z.object({ type: z.literal('change'), data: change }),
      z.object({ type: z.literal('reload'), data: reload.omit({ node: true }) }),
      z.object({ type: z.literal('worker'), data: worker.omit({ node: true }) }),
      z.object({ type: z.literal('upstream'), data: upstream.omit({ node: true }) }),
      z.object({ type: z.literal('limit'), data: limit.omit({ node: true }) }),
    ]),
  }),
  /** What the requests of a node did since its last message. */
  traffic: z.object({ ...sender, traffic: packedTraffic }),
};

type Schemas = typeof MESSAGE_SCHEMAS;
export type MessageType = keyof Schemas;
export type MessageOf<Type extends MessageType> = z.infer<Schemas[Type]>;
export type FleetMessage = {
  [Type in MessageType]: { readonly type: Type } & MessageOf<Type>;
}[MessageType];

/** Undefined for a message that is not ours, or of a version with other messages. */
export function parseMessage(text: string): FleetMessage | undefined {
  if (text.length > MESSAGE_CHARS_MAX) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const { type } = z.object({ type: z.string() }).parse(value);
    if (!Object.hasOwn(MESSAGE_SCHEMAS, type)) return undefined;
    const message = MESSAGE_SCHEMAS[type as MessageType].parse(value);
    return { type, ...message } as FleetMessage;
  } catch {
    return undefined;
  }
}
