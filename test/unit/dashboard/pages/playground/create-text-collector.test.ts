import { expect, it } from 'vitest';
import { createTextCollector } from '../../../../../src/dashboard/pages/playground/create-text-collector.ts';
import { eventsOf, pieceOf } from '../../../../support/upstreams/flood-events.ts';

const PIECES = [1, 2, 3];
const CHARS = 8;
const TEXT = PIECES.map((number) => pieceOf(number, CHARS)).join('');

it.each(['native', 'chat'] as const)(
  'the text of a %s stream comes together, wherever it was cut',
  (format) => {
    const events = eventsOf(format);
    const said = PIECES.map((number) => events.say(number, CHARS)).join('');
    const stream = `${events.begin()}: ping\n\n${said}${events.end(3)}`;
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const collect = createTextCollector(true);
      const early = collect(stream.slice(0, cut));
      expect(TEXT.startsWith(early)).toBe(true);
      expect(collect(stream.slice(cut))).toBe(TEXT);
    }
  },
);

it('the text of a whole answer is read when all of it is there', () => {
  const content = [
    { type: 'text', text: 'Hel' },
    { type: 'tool_use' },
    { type: 'text', text: 'lo' },
  ];
  const output = [{ type: 'reasoning', summary: [] }, { content }];
  const bodies = [{ content }, { choices: [{ message: { content: 'Hello' } }] }, { output }];
  for (const body of bodies) {
    const json = JSON.stringify(body);
    const collect = createTextCollector(false);
    expect(collect(json.slice(0, 9))).toBe('');
    expect(collect(json.slice(9))).toBe('Hello');
  }
});

it('the text of a Responses stream is told by its deltas alone', () => {
  const events = [
    { type: 'response.reasoning_summary_text.delta', delta: 'Hm.' },
    { type: 'response.output_text.delta', delta: 'Hello' },
    { type: 'response.output_text.done', text: 'Hello' },
    { type: 'response.completed', response: { output: [{ content: [{ text: 'Hello' }] }] } },
  ];
  const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  expect(createTextCollector(true)(stream)).toBe('Hello');
});

it('what is no answer of a model has no text', () => {
  for (const body of [
    'null',
    '[]',
    '"a"',
    '{"error":{"message":"no"}}',
    'data: {',
    '',
    '{"content":7}',
  ]) {
    expect(createTextCollector(false)(body)).toBe('');
    expect(createTextCollector(true)(`data: ${body}\n\n`)).toBe('');
  }
});
