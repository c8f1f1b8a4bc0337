import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { askGateway, postQuestion } from '../../support/clients/ask-gateway.ts';
import { scrape } from '../../support/clients/scrape.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { CLOSE, type Step } from '../../support/upstreams/start-scripted-upstream.ts';
import {
  answerOf,
  chunkOf,
  LAST_CHUNK,
  STREAM_HEAD,
  streamParts,
  type UpstreamKind,
  USAGE,
  wholeBody,
} from '../../support/upstreams/upstream-answers.ts';
import {
  type Place,
  priceOf,
  useUpstreamScene,
} from '../../support/upstreams/use-upstream-scene.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();

/** What a new account has. */
const CREDITS = 1_000;
/** Occurs nowhere else in an answer. */
const LETTER = 'Q';
const LETTER_BYTE = LETTER.charCodeAt(0);
const PIECE = LETTER.repeat(64 * 1024);
const PIECES = 1_600;
const TEXT_BYTES = PIECE.length * PIECES;
/** The gateway keeps a whole answer of up to 32 MiB. */
const GROWTH_BYTES_MAX = 64 * 1024 * 1024;
/** The end of a stream of Responses says all of it again. */
const REPEATED_CHARS_MAX = 4 * 1024 * 1024;
const LARGE_EVENT_BYTES = 5 * 1024 * 1024;
/** More failures than an upstream may have before it is left alone. */
const ASKS = 8;
/** More than an answer may have, of whatever is counted. */
const MANY = 1_100;

describe.each(['native', 'chat', 'responses'] as const)('an upstream of kind %s', (kind) => {
  it('that streams 100 MB is passed on whole, in little memory', async () => {
    const place = await scene.take(kind, { script: () => streamLargely(kind) });
    const peakBytes = readPeakBytes(place.gateway);
    const response = await postQuestion({
      url: place.gateway.url,
      key: place.key,
      model: place.model,
      format: 'native',
      isStream: true,
    });
    let textBytes = 0;
    let tail: Buffer = Buffer.alloc(0);
    for await (const bytes of response.body ?? []) {
      for (const byte of bytes) if (byte === LETTER_BYTE) textBytes += 1;
      tail = Buffer.concat([tail, bytes]).subarray(-100);
    }
    expect(textBytes).toBe(TEXT_BYTES);
    expect(tail.toString()).toContain('message_stop');
    expect(readPeakBytes(place.gateway) - peakBytes).toBeLessThan(GROWTH_BYTES_MAX);
    expect(place.requests()).toHaveLength(1);
    expect(await place.spent()).toBeCloseTo(priceOf(USAGE), 6);
  });

  it('that streams 100 MB is cut off where its end would repeat too much, and costs what was written', async () => {
    const place = await scene.take(kind, { script: () => streamLargely(kind) });
    const peakBytes = readPeakBytes(place.gateway);
    const question = { url: place.gateway.url, key: place.key, model: place.model };
    const told = await askGateway({
      ...question,
      format: 'responses',
      isStream: true,
      isKept: true,
    });
    expect(told).toMatchObject({
      isComplete: false,
      error: { message: expect.stringContaining('too large: its end would repeat too much') },
    });
    expect(told.text.length).toBeGreaterThan(REPEATED_CHARS_MAX - 10 * PIECE.length);
    expect(told.text.length).toBeLessThanOrEqual(REPEATED_CHARS_MAX);
    expect(readPeakBytes(place.gateway) - peakBytes).toBeLessThan(2 * GROWTH_BYTES_MAX);
    await waitUntil(
      () => place.requests()[0]?.isConnectionClosed() === true,
      'the upstream is hung up on',
    );
    // So much text has more tokens than the account can pay, however long they are.
    expect(await place.spent()).toBe(CREDITS);
  });

  it('that answers 100 MB at once is refused after one try, in little memory and for nothing', async () => {
    const place = await scene.take(kind, { script: () => answerLargely(kind) });
    const peakBytes = readPeakBytes(place.gateway);
    const told = await place.ask('native', false);
    expect(told).toMatchObject({
      status: 502,
      error: { type: 'api_error', message: "The upstream's answer is too large." },
    });
    expect(readPeakBytes(place.gateway) - peakBytes).toBeLessThan(GROWTH_BYTES_MAX);
    expect(place.requests()).toHaveLength(1);
    await waitUntil(
      () => place.requests()[0]?.isConnectionClosed() === true,
      'the upstream is hung up on',
    );
    expect(await place.spent()).toBe(0);
    expect(await countOversize(place)).toBe(1);
  });

  it('that answers as deep or in as many pieces as its model was told to is no worse for that', async () => {
    const place = await scene.take(kind, { script: () => [answerOf(200, manifoldBody(kind))] });
    for (let asks = 1; asks <= ASKS; asks += 1) {
      expect(await place.ask('native', false)).toMatchObject({
        status: 502,
        error: { message: expect.stringContaining("The upstream's answer is too large: ") },
      });
      expect(place.requests()).toHaveLength(asks);
    }
    expect(await place.spent()).toBe(0);
    expect(await countOversize(place)).toBe(ASKS);
  });

  it('that sends an event without end is cut off', async () => {
    const { begin, say } = streamParts(kind);
    const place = await scene.take(kind, {
      script: () => [
        STREAM_HEAD + chunkOf(begin + say('Hello')),
        chunkOf(`data: ${'x'.repeat(LARGE_EVENT_BYTES)}`),
        CLOSE,
      ],
    });
    expect(await place.ask('chat', true)).toMatchObject({
      text: 'Hello',
      isComplete: false,
      error: { message: 'The upstream sent an event that is too large.' },
    });
    expect(place.requests()).toHaveLength(1);
    expect(await countOversize(place)).toBe(1);
  });
});

function* streamLargely(kind: UpstreamKind): Iterable<Step> {
  const { begin, say, end } = streamParts(kind);
  const event = chunkOf(say(PIECE));
  yield STREAM_HEAD + chunkOf(begin);
  for (let number = 0; number < PIECES; number += 1) yield event;
  yield chunkOf(end(USAGE)) + LAST_CHUNK;
}

function* answerLargely(kind: UpstreamKind): Iterable<Step> {
  const [before, after] = wholeBody(kind, '|', USAGE).split('|');
  yield STREAM_HEAD + chunkOf(before ?? '');
  const piece = chunkOf(PIECE);
  for (let number = 0; number < PIECES; number += 1) yield piece;
  yield chunkOf(after ?? '') + LAST_CHUNK;
}

/** An answer with a deep input of a tool, or with too many calls of tools. */
function manifoldBody(kind: UpstreamKind): string {
  const body = JSON.parse(wholeBody(kind, 'Hello', USAGE));
  const numbers = Array.from({ length: MANY }, (_, number) => number);
  if (kind === 'native') {
    const deep = numbers.reduce<unknown>((input) => ({ a: input }), {});
    body.content = [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: deep }];
  } else if (kind === 'chat') {
    const called = { name: 'look', arguments: '{}' };
    body.choices[0].message.tool_calls = numbers.map((number) => ({
      ...{ index: number, id: `call_${number}`, type: 'function', function: called },
    }));
  } else {
    body.output = numbers.map((number) => ({
      ...{ type: 'function_call', id: `fc_${number}`, call_id: `call_${number}` },
      ...{ status: 'completed', name: 'look', arguments: '{}' },
    }));
  }
  return JSON.stringify(body);
}

async function countOversize({ gateway, model }: Place): Promise<number | undefined> {
  const metrics = await scrape(gateway);
  return metrics.sum('tollgate_upstream_tries_total', { upstream: model, result: 'oversize' });
}

/** The peak of the only worker since it started. */
function readPeakBytes(gateway: Gateway): number {
  const [pid] = gateway.workerPids();
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(peak) * 1024;
}
