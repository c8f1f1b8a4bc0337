import { afterAll, describe, expect, it } from 'vitest';
import { FORMAT_NAMES, FORMAT_PATHS } from '../../../../src/protocol/format-names.ts';
import { askGateway } from '../../../support/clients/ask-gateway.ts';
import { stopRedisServers } from '../../../support/servers/start-redis-server.ts';
import type { Script } from '../../../support/upstreams/start-scripted-upstream.ts';
import { answerOf, goodAnswer, USAGE } from '../../../support/upstreams/upstream-answers.ts';
import {
  type Place,
  priceOf,
  useUpstreamScene,
} from '../../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene({ kinds: ['responses'] });
const ENCRYPTED = 'reasoning.encrypted_content';
const LIKELIHOODS = 'message.output_text.logprobs';
const REFUSAL = 'Encrypted content is not supported with this model.';
const type = 'invalid_request_error';

interface Complaint {
  readonly message: string;
  readonly param: string | null;
}

const COMPLAINT: Complaint = { message: REFUSAL, param: 'include' };

const refuse = (complaint: Complaint) =>
  answerOf(400, JSON.stringify({ error: { ...complaint, type, code: null } }));

const includeOf = ({ body }: { readonly body: string }): unknown[] => JSON.parse(body).include;

/** The vendor of a model that does not think. */
function plainModel(isStream: boolean, complaint = COMPLAINT): Script {
  return (_, request) => [
    includeOf(request).includes(ENCRYPTED) ? refuse(complaint) : goodAnswer('responses', isStream),
  ];
}

async function askForIncluded({ gateway, key, model }: Place, include: readonly string[]) {
  const response = await fetch(`${gateway.url}${FORMAT_PATHS.responses}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, input: 'Hi', store: false, include }),
  });
  return { status: response.status, body: await response.json() };
}

describe('a model whose upstream encrypts no thoughts of it', () => {
  const ways = FORMAT_NAMES.flatMap((format) =>
    [false, true].map((isStream) => [format, isStream] as const),
  );

  it.each(ways)(
    'answers a %s client when asked once more, and is then asked without them, streamed: %s',
    async (format, isStream) => {
      const place = await scene.take('responses', { script: plainModel(isStream) });
      for (const includes of [
        [[ENCRYPTED], []],
        [[ENCRYPTED], [], []],
      ]) {
        const told = await place.ask(format, isStream);
        expect(told).toMatchObject({ status: 200, text: 'Hello!', isComplete: true });
        expect(place.requests().map(includeOf)).toEqual(includes);
      }
      expect(await place.spent()).toBeCloseTo(2 * priceOf(USAGE), 6);
    },
  );

  it.each([
    { message: REFUSAL, param: null },
    { message: 'Not with this model.', param: 'include' },
  ])('may refuse as %j', async (complaint) => {
    const script = plainModel(false, complaint);
    const place = await scene.take('responses', { script });
    expect(await place.ask('native', false)).toMatchObject({ status: 200, text: 'Hello!' });
    expect(place.requests()).toHaveLength(2);
  });

  it('says no to a client that asks for them itself, also when it is known', async () => {
    const place = await scene.take('responses', { script: plainModel(false) });
    const refused = { status: 400, body: { error: COMPLAINT } };
    expect(await askForIncluded(place, [ENCRYPTED])).toMatchObject(refused);
    expect(place.requests()).toHaveLength(1);
    expect(await askForIncluded(place, [])).toMatchObject({ status: 200 });
    expect(await askForIncluded(place, [ENCRYPTED])).toMatchObject(refused);
    expect(place.requests().map(includeOf)).toEqual([[ENCRYPTED], [ENCRYPTED], [], [ENCRYPTED]]);
    expect(await place.spent()).toBeCloseTo(priceOf(USAGE), 6);
  });

  it('is asked again at the same upstream, and says nothing about other models there', async () => {
    const place = await scene.take('responses', {
      script: plainModel(false),
      nextScript: () => [goodAnswer('responses', false)],
    });
    expect(await place.ask('chat', false)).toMatchObject({ status: 200 });
    expect(place.nextRequests()).toHaveLength(0);
    const { key, gateway } = place;
    const other = { key, url: gateway.url, model: place.model.replace('-or-next', '') };
    await askGateway({ ...other, format: 'chat', isStream: false });
    expect(place.requests().map(includeOf)).toEqual([[ENCRYPTED], [], [ENCRYPTED], []]);
  });

  it('that refuses what a client wants beside them is not taken for such a model', async () => {
    const complaint = { message: 'No logprobs with this model.', param: 'include' };
    const place = await scene.take('responses', {
      script: (_, request) => [
        includeOf(request).includes(LIKELIHOODS)
          ? refuse(complaint)
          : goodAnswer('responses', false),
      ],
    });
    const { status, body } = await askForIncluded(place, [LIKELIHOODS]);
    expect({ status, body }).toMatchObject({ status: 400, body: { error: complaint } });
    expect(await place.ask('native', false)).toMatchObject({ status: 200 });
    const both = [LIKELIHOODS, ENCRYPTED];
    expect(place.requests().map(includeOf)).toEqual([both, [LIKELIHOODS], [ENCRYPTED]]);
  });
});
