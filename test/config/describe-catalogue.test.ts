import { expect, it } from 'vitest';
import { buildCatalogue } from '../../src/config/build-catalogue.ts';
import { describeCatalogue } from '../../src/config/describe-catalogue.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

const MAIN = '{name: main, kind: native, url: "https://models.example.com", api_key: k}';
const CHAT = '{name: chat, kind: chat, url: "https://models.example.com", api_key: k}';
const PRACTICE = '{name: practice, kind: simulated}';
const SPARE = '{name: spare, kind: simulated}';

/** What is written of the routes of one model, and where it leads when that is read again. */
function describeRoutes(upstreamTexts: readonly string[], model: string) {
  const text = `
upstreams: [${upstreamTexts.join(', ')}]
models: [{id: m, context_length: 10, ${model}}]
`;
  const { upstreams, models, plans } = parseConfig({ path: undefined, text, env: {} });
  const document = describeCatalogue({ models, plans }, upstreams);
  expect(buildCatalogue(document, upstreams).models[0]?.routes).toEqual(models[0]?.routes);
  return document.models[0]?.routes?.map(({ upstream }) => upstream);
}

const PRICED = 'max_output_tokens: 5, price: {input: 1, output: 1}';
const EMBEDDING = 'embeddings: true, price: {input: 1}';

it.each([
  ['real ones alone', [MAIN, CHAT], PRICED],
  ['a simulated one beside a real one', [MAIN, PRACTICE], PRICED],
  ['simulated ones alone', [PRACTICE, SPARE], PRICED],
  ['one that has no embeddings beside one that has', [MAIN, CHAT], EMBEDDING],
  ['a simulated one beside one that has no embeddings', [MAIN, PRACTICE], EMBEDDING],
])('a model without routes is described without routes, if there is %s', (_, upstreams, model) => {
  expect(describeRoutes(upstreams, model)).toBeUndefined();
});

it('routes to a simulated upstream beside a real one are described, since nothing else leads there', () => {
  const both = 'routes: [{upstream: main}, {upstream: practice}]';
  expect(describeRoutes([MAIN, PRACTICE], `${PRICED}, ${both}`)).toEqual(['main', 'practice']);
});

it('routes that lead to fewer upstreams, or not to all of them alike, are described', () => {
  const one = 'routes: [{upstream: main}]';
  expect(describeRoutes([MAIN, CHAT], `${PRICED}, ${one}`)).toEqual(['main']);
  const uneven = 'routes: [{upstream: main, weight: 2}, {upstream: chat}]';
  expect(describeRoutes([MAIN, CHAT], `${PRICED}, ${uneven}`)).toEqual(['main', 'chat']);
});
