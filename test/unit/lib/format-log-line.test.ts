import { describe, expect, it } from 'vitest';
import { formatLogLine } from '../../../src/lib/format-log-line.ts';

const format = (fields: object) =>
  formatLogLine(
    JSON.stringify({
      level: 40,
      time: '2026-11-23T14:03:11.120Z',
      pid: 12,
      from: 'worker 1',
      ...fields,
    }),
  );

describe('a line of the log for people', () => {
  it('has the time, how bad it is, who says it, what, and what belongs to it', () => {
    const line = format({ workerPid: 7, reason: 'two words', path: '/a', list: [1], msg: 'died' });
    expect(line).toBe(
      '14:03:11.120 WARN  worker 1: died workerPid=7 reason="two words" path=/a list=[1]\n',
    );
  });

  it('has the stack of an error below it', () => {
    const line = format({ level: 50, err: { message: 'x', stack: 'Error: x\n  at y' }, msg: 'no' });
    expect(line).toBe('14:03:11.120 ERROR worker 1: no\n    Error: x\n      at y\n');
  });

  it('holds nothing that could control the terminal', () => {
    const line = format({ name: '\u001b[2J\u009b31m\u007f ü\n', msg: 'a\u001b]0;title\u0007\nb' });
    expect(line).toMatch(/^[ -~]+\n$/);
    expect(line).toContain('\\u001b');
  });
});
