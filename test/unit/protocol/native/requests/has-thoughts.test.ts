import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../../src/protocol/inference.ts';
import {
  beginsWithThought,
  dropTurnThoughts,
} from '../../../../../src/protocol/native/requests/has-thoughts.ts';
import { assistant, result, text, use, user } from '../request-parts.ts';

const thought = { type: 'thinking', thinking: 'Hm.', signature: 'signed' };
const hidden = { type: 'redacted_thinking', data: 'x' };
const question = user(text('Hi'));
const system = { role: 'system', content: 'Mind the gap.' };
const begins = (...messages: unknown[]) => beginsWithThought(messages as Message[]);
const drop = (...messages: unknown[]) => dropTurnThoughts(messages as Message[]);

const earlier = [
  ...[question, assistant(use('0')), user(result('0')), assistant(thought, text('So.'))],
  question,
];

describe('a turn that goes on', () => {
  it.each([
    [[assistant(thought, use('a'))]],
    [[assistant(hidden, use('a')), user(result('a')), assistant(use('b'))]],
    [[assistant(thought), assistant(use('a')), user(result('a')), assistant(text('So'), use('b'))]],
    [[assistant(thought, use('a')), user(result('a')), system, assistant(use('b'))]],
  ])('begins with a thought if its first answer does: %j', (turn) => {
    expect(begins(question, ...turn, user(result('b')))).toBe(true);
    expect(begins(...turn, user(result('b')), system)).toBe(true);
    expect(begins(...earlier, ...turn, user(result('b')))).toBe(true);
  });

  it.each([
    [[assistant(use('a'))]],
    [[assistant(text('So'), thought, use('a'))]],
    [[assistant(use('a')), user(result('a')), assistant(thought, use('b'))]],
    [[{ role: 'assistant', content: 'So' }, assistant(thought, use('a'))]],
  ])('does not if a later one does: %j', (turn) => {
    expect(begins(question, ...turn, user(result('b')))).toBe(false);
  });

  it('begins again with what a user says beside results, as vendors may see it', () => {
    const next = user(result('a'), text('Go on'));
    expect(begins(question, assistant(thought, use('a')), next, assistant(use('b')))).toBe(true);
    const last = user(result('b'));
    expect(begins(question, assistant(thought, use('a')), next, assistant(use('b')), last)).toBe(
      false,
    );
    expect(begins(question, assistant(use('a')), next, assistant(thought, use('b')), last)).toBe(
      false,
    );
  });

  it('loses all of its thoughts, and no earlier turn does', () => {
    expect(
      drop(
        ...[...earlier, assistant(thought), assistant(hidden, use('a')), user(result('a'))],
        ...[system, assistant(text('So'), thought, use('b')), user(result('b'), text('Well?'))],
      ),
    ).toEqual([
      ...[...earlier, assistant(use('a')), user(result('a'))],
      ...[system, assistant(text('So'), use('b')), user(result('b'), text('Well?'))],
    ]);
    expect(drop(...earlier)).toEqual(earlier);
  });
});
