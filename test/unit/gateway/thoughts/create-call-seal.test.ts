import { expect, it } from 'vitest';
import { createCallSeal } from '../../../../src/gateway/thoughts/create-call-seal.ts';
import { createReasoningVault } from '../../../../src/keys/reasoning-vault.ts';
import type { ContentBlock, Message } from '../../../../src/protocol/inference.ts';
import { ask } from '../../upstream/simulated-support.ts';

const vault = createReasoningVault(() => ['the secret']);
const MODEL = 'sonnet';

function sealAs(accountId: string, model: string): string {
  const thought = { type: 'redacted_thinking' as const, data: 'x' };
  return vault.sealOf(accountId).seal({ upstream: 'main', model }, thought) ?? '';
}

const OWN = sealAs('mine', MODEL);
const FOREIGN = sealAs('theirs', MODEL);
const OTHER_MODEL = sealAs('mine', 'haiku');

const thinking = (signature: string): ContentBlock => ({
  ...{ type: 'thinking', thinking: '', signature },
});
const call: ContentBlock = { type: 'tool_use', id: 'a', name: 'get', input: {} };
const result: ContentBlock = { type: 'tool_result', tool_use_id: 'a', content: '7' };
const question: Message = { role: 'user', content: 'Hello' };
const step = (signature: string): Message[] => [
  { role: 'assistant', content: [thinking(signature), call] },
  { role: 'user', content: [result] },
];

function boundIn(messages: readonly Message[], asked = vault): (string | undefined)[] {
  const request = ask('Hello', { messages });
  const { bound } = createCallSeal(asked, { accountId: 'mine', model: MODEL, request });
  return bound.map(({ opened }) => opened?.upstream);
}

it('a request is bound by what its model has thought in the turn that goes on', () => {
  expect(boundIn([question])).toEqual([]);
  expect(boundIn([question, ...step(OWN), ...step(OWN)])).toEqual(['main', 'main']);
  expect(boundIn([question, ...step(OTHER_MODEL)])).toEqual([]);
  expect(boundIn([question, ...step(FOREIGN), ...step(OWN)])).toEqual([undefined, 'main']);
});

it('nothing binds once the user has said more, be it beside a result', () => {
  const beside: Message = { role: 'user', content: [result, { type: 'text', text: 'Stop' }] };
  expect(boundIn([question, ...step(FOREIGN), question])).toEqual([]);
  expect(boundIn([question, ...step(FOREIGN).slice(0, 1), beside])).toEqual([]);
  expect(boundIn([question, ...step(FOREIGN), question, ...step(OWN)])).toEqual(['main']);
});

it('nothing binds before there is a secret, for then nobody can open anything', () => {
  const late = createReasoningVault(() => []);
  expect(boundIn([question, ...step(OWN)], late)).toEqual([]);
});

it('a thought is opened once, and is not taken for another one with the same end', () => {
  const asked: string[] = [];
  const open = (sealed: string) => {
    asked.push(sealed);
    const [, upstream = ''] = sealed.split('.');
    return { upstream, reasoning: { type: 'redacted_thinking' as const, data: '' } };
  };
  const counting = {
    sealOf: () => ({ seal: () => undefined, open, isReady: () => true }),
  };
  const thoughts = ['one', 'two', 'six'].map((name) => `tg1.${name}.${'x'.repeat(20_000)}`);
  const callSealOf = (...sealed: string[]) => {
    const request = ask('Hello', { messages: [question, ...sealed.flatMap(step)] });
    return createCallSeal(counting, { accountId: 'mine', model: MODEL, request });
  };
  expect(callSealOf(OWN).open(OWN)?.upstream).toBeDefined();
  expect(asked).toEqual([OWN]);
  const callSeal = callSealOf(...thoughts);
  expect(thoughts.map((sealed) => callSeal.open(sealed)?.upstream)).toEqual(['one', 'two', 'six']);
});
