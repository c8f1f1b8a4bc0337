import { describe, expect, it } from 'vitest';
import type { InferenceEvent } from '../../../src/protocol/inference.ts';
import { createAnswerDeadlines } from '../../../src/upstream/answer-deadlines.ts';
import { PartQueue } from '../../../src/upstream/part-queue.ts';

const event = (index: number): InferenceEvent => ({ type: 'block_stop', index });
const decoded = (...indexes: number[]) => ({
  events: indexes.map(event),
  contentBytes: 0,
  bytes: undefined,
});
const relayed = (index: number, text: string) => ({
  events: [event(index)],
  contentBytes: 2,
  bytes: [Buffer.from(text)],
});

function create() {
  const heard: string[] = [];
  const source = {
    pause: () => heard.push('pause'),
    resume: () => heard.push('resume'),
    isSent: () => true,
    abort: () => heard.push('abort'),
    judgeOverdue: () => 'begun' as const,
  };
  const minuteMs = 60_000;
  const parts = new PartQueue(
    source,
    createAnswerDeadlines({ firstByteMs: minuteMs, idleMs: minuteMs, totalMs: minuteMs }),
  );
  return {
    iterator: parts,
    push: parts.push.bind(parts),
    finish: () => parts.finish(),
    fail: (error: unknown) => parts.fail(error),
    heard,
  };
}

describe('the parts of an answer', () => {
  it('are one for everything that came in one read', async () => {
    const { iterator, push } = create();
    const next = iterator.next();
    push(decoded(1), 1);
    push(decoded(2, 3), 1);
    expect(await next).toEqual({ done: false, value: decoded(1, 2, 3) });
  });

  it('have the bytes of all of it in their order', async () => {
    const { iterator, push } = create();
    for (const [index, text] of ['a', 'b', 'c'].entries()) push(relayed(index, text), 1);
    const { value } = await iterator.next();
    expect(value).toEqual({
      events: [event(0), event(1), event(2)],
      contentBytes: 6,
      bytes: Buffer.from('abc'),
    });
  });

  it('come before the end and before the failure that follow them', async () => {
    const good = create();
    good.push(decoded(1), 1);
    good.finish();
    expect(await good.iterator.next()).toEqual({
      done: false,
      value: { ...decoded(1), isLast: true },
    });
    expect(await good.iterator.next()).toEqual({ done: true, value: undefined });

    const bad = create();
    bad.push(decoded(1), 1);
    bad.fail(new Error('broken'));
    expect(await bad.iterator.next()).toEqual({ done: false, value: decoded(1) });
    await expect(bad.iterator.next()).rejects.toThrow('broken');
  });

  it('make the upstream wait while too much of it is not taken, and only then', async () => {
    const { iterator, push, heard } = create();
    push(decoded(1), 16 * 1024);
    expect(heard).toEqual([]);
    push(decoded(2), 1);
    push(decoded(3), 1);
    expect(heard).toEqual(['pause']);
    await iterator.next();
    expect(heard).toEqual(['pause', 'resume']);
    push(decoded(4), 16 * 1024);
    expect(heard).toEqual(['pause', 'resume']);
  });

  it('never wait for what has only begun to come, however long it is', async () => {
    const { iterator, push, heard } = create();
    const next = iterator.next();
    for (let i = 0; i < 10; i++) push({ events: [], contentBytes: 0, bytes: [] }, 64 * 1024);
    expect(heard).toEqual([]);
    push(relayed(1, 'whole'), 1);
    const { value } = await next;
    expect(heard).toEqual([]);
    expect(value).toEqual({ ...relayed(1, ''), bytes: Buffer.from('whole') });
  });

  it('end where nobody takes them any more, which stops an upstream that goes on', async () => {
    const { iterator, push, heard } = create();
    push(decoded(1), 1);
    expect(await iterator.return()).toEqual({ done: true, value: undefined });
    expect(heard).toEqual(['abort']);
    push(decoded(2), 1);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it('end for somebody who is waiting for the next one', async () => {
    const { iterator, heard } = create();
    const next = iterator.next();
    await iterator.return();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(heard).toEqual(['abort']);
  });
});
