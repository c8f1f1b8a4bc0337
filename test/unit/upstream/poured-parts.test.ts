import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AnswerPart } from '../../../src/protocol/inference.ts';
import { createAnswerDeadlines } from '../../../src/upstream/answer-deadlines.ts';
import { PartQueue } from '../../../src/upstream/part-queue.ts';

const IDLE_MS = 60_000;
const HOUR_MS = 3_600_000;

const saying = (bytes: Uint8Array) => ({ events: [], contentBytes: 1, bytes: [bytes] });

function create() {
  const heard: string[] = [];
  const source = {
    pause: () => heard.push('pause'),
    resume: () => heard.push('resume'),
    isSent: () => true,
    abort: () => heard.push('abort'),
    judgeOverdue: () => 'begun' as const,
  };
  const limits = { firstByteMs: HOUR_MS, idleMs: IDLE_MS, totalMs: HOUR_MS };
  return { parts: new PartQueue(source, createAnswerDeadlines(limits)), heard };
}

/** A consumer that takes parts and may be made to wait. */
function createTaker() {
  const texts: string[] = [];
  let wait: Promise<boolean> | undefined;
  let goOn = (_isMoreWanted: boolean) => {};
  return {
    texts,
    take({ bytes = new Uint8Array(0) }: AnswerPart) {
      texts.push(Buffer.from(bytes).toString());
      return wait ?? true;
    },
    holdUp() {
      wait = new Promise((resolve) => {
        goOn = resolve;
      });
    },
    goOn(isMoreWanted: boolean) {
      wait = undefined;
      goOn(isMoreWanted);
    },
  };
}

/** Waits for everything that depends on promises that are already settled. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

afterEach(() => {
  vi.useRealTimers();
});

describe('parts that are poured', () => {
  it('are there when the read that brought them ends, as one', () => {
    const { parts } = create();
    const taker = createTaker();
    void parts.pour(taker.take);
    parts.push(saying(Buffer.from('a')), 1);
    parts.push(saying(Buffer.from('b')), 1);
    expect(taker.texts).toEqual([]);
    parts.flush();
    expect(taker.texts).toEqual(['ab']);
  });

  it('outlive the memory of their read where they have to wait', async () => {
    const { parts } = create();
    const memory = Buffer.from('early');
    parts.push(saying(memory), 5);
    memory.fill('x');
    const taker = createTaker();
    taker.holdUp();
    void parts.pour(taker.take);
    memory.write('later');
    parts.push(saying(memory), 5);
    parts.flush();
    memory.fill('y');
    taker.goOn(true);
    await settle();
    expect(taker.texts).toEqual(['early', 'later']);
  });

  it('make the source wait for a taker that waits, and go on with it', async () => {
    const { parts, heard } = create();
    const taker = createTaker();
    void parts.pour(taker.take);
    for (let i = 0; i < 3; i++) parts.push(saying(Buffer.from('a')), 16 * 1024);
    parts.flush();
    expect(heard).toEqual([]);
    taker.holdUp();
    for (let i = 0; i < 3; i++) {
      parts.push(saying(Buffer.from('b')), 16 * 1024);
      parts.flush();
    }
    expect(heard).toEqual(['pause']);
    taker.goOn(true);
    await settle();
    expect(heard).toEqual(['pause', 'resume']);
    expect(taker.texts.join('')).toBe('aaabbb');
  });

  it('say whether that was all', async () => {
    const whole = create();
    const poured = whole.parts.pour(() => true);
    whole.parts.finish();
    expect(await poured).toBe(true);
    const last = create();
    const pouredLast = last.parts.pour(() => false);
    last.parts.pushLast(saying(Buffer.from('end')));
    expect(await pouredLast).toBe(true);
    const cut = create();
    const pouredCut = cut.parts.pour(() => false);
    cut.parts.push(saying(Buffer.from('a')), 1);
    cut.parts.flush();
    expect(await pouredCut).toBe(false);
  });

  it('end with a taker that waits and then wants no more, or fails', async () => {
    const left = create();
    const pouredLeft = left.parts.pour(() => Promise.resolve(false));
    left.parts.push(saying(Buffer.from('a')), 1);
    left.parts.flush();
    expect(await pouredLeft).toBe(false);
    const failed = create();
    const pouredFailed = failed.parts.pour(() => Promise.reject(new Error('cannot take')));
    failed.parts.push(saying(Buffer.from('a')), 1);
    failed.parts.flush();
    await expect(pouredFailed).rejects.toThrow('cannot take');
  });

  it('are not held against the upstream for as long as their taker waits', async () => {
    vi.useFakeTimers();
    const { parts, heard } = create();
    const taker = createTaker();
    const poured = parts.pour(taker.take);
    poured.catch(() => {});
    parts.push(saying(Buffer.from('a')), 1);
    parts.flush();
    taker.holdUp();
    parts.push(saying(Buffer.from('b')), 1);
    parts.flush();
    await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
    expect(heard).toEqual([]);
    taker.goOn(true);
    await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
    expect(heard).toEqual(['abort']);
    await expect(poured).rejects.toThrow('it said nothing for');
  });

  it('come before the failure that follows them', async () => {
    const { parts } = create();
    const taker = createTaker();
    const poured = parts.pour(taker.take);
    parts.push(saying(Buffer.from('a')), 1);
    parts.fail(new Error('broken'));
    await expect(poured).rejects.toThrow('broken');
    expect(taker.texts).toEqual(['a']);
  });

  it('end with a taker that fails, and not in the read', async () => {
    const { parts } = create();
    const poured = parts.pour(() => {
      throw new Error('cannot take');
    });
    parts.push(saying(Buffer.from('a')), 1);
    parts.flush();
    await expect(poured).rejects.toThrow('cannot take');
  });

  it('end with what taking them brought about', async () => {
    const { parts } = create();
    const poured = parts.pour(() => {
      parts.fail(new Error('the client left'));
      return true;
    });
    parts.push(saying(Buffer.from('a')), 1);
    parts.flush();
    await expect(poured).rejects.toThrow('the client left');
  });
});
