import { expect, it } from 'vitest';
import { createEventSplitter } from '../../../../src/dashboard/api/event-splitter.ts';

const STREAM =
  ': open\n\nevent: missed\ndata: {"events":2}\n\nevent: missed\ndata: {"events":3}\n\n';
const EVENTS = [
  { event: 'missed', data: { events: 2 } },
  { event: 'missed', data: { events: 3 } },
];

it('events come out whole, wherever the stream was cut; comments do not', () => {
  for (let cut = 0; cut <= STREAM.length; cut += 1) {
    const split = createEventSplitter();
    expect([...split(STREAM.slice(0, cut)), ...split(STREAM.slice(cut))]).toEqual(EVENTS);
  }
});

it('a stream that never ends an event is given up', () => {
  const split = createEventSplitter();
  const feed = () => {
    for (let times = 0; times < 100; times += 1) split('x'.repeat(100_000));
  };
  expect(feed).toThrow('an event is too long');
});
