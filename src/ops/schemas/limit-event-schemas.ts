import { z } from 'zod';
import { LIMIT_EVENT_SOURCES } from '../../events/limit-event.ts';
import { LIMIT_UNITS } from '../../limits/limit.ts';
import { LIMIT_EVENT_TYPES } from '../../limits/limit-event-types.ts';
import { LIMIT_LEVELS } from '../../protocol/rates/limit-state.ts';
import { choiceOf, filterText, pageLimit } from './query-fields.ts';

const PAGE = 100;

/** What an event of a limit has, in the list, in the stream and in a webhook. */
export const limitEventParts = {
  id: z.string(),
  type: z.enum(LIMIT_EVENT_TYPES),
  at: z.iso.datetime(),
  account: z.string(),
  key: z.string().nullable(),
  level: z.enum(LIMIT_LEVELS),
  subject: z.string(),
  source: z.enum(LIMIT_EVENT_SOURCES),
  unit: z.enum(LIMIT_UNITS).nullable(),
  window: z.string().nullable(),
  amount: z.number(),
  counted: z.number(),
  held: z.number(),
};

const number = z.int().min(1);

export const limitEventsAnswer = z.strictObject({
  data: z.array(z.strictObject({ number, ...limitEventParts })),
  /** The value of `before` for the next page. */
  next: z.string().nullable(),
});

const beforeError = 'must be the number of an event';

export const limitEventsQuery = z.strictObject({
  account: filterText.optional(),
  type: choiceOf(LIMIT_EVENT_TYPES).optional(),
  before: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, { error: beforeError, abort: true })
    .transform(Number)
    .optional(),
  limit: pageLimit(PAGE),
});

const count = z.int().min(0);

export const webhooksAnswer = z.strictObject({
  data: z.array(
    z.strictObject({
      name: z.string(),
      url: z.string(),
      events: z.array(z.string()),
      secrets: count,
      waiting: count,
      dropped: count,
      delivered_at: z.iso.datetime().nullable(),
      failing_since: z.iso.datetime().nullable(),
      reason: z.string().nullable(),
    }),
  ),
});

export const webhookTestAnswer = z.strictObject({
  name: z.string(),
  delivered: z.boolean(),
  status: z.int().nullable(),
  reason: z.string().nullable(),
});
