import { expect, it } from 'vitest';
import { createKnownVersions } from '../../../src/catalogue-store/known-versions.ts';
import type { NamedUpstream } from '../../../src/config/config.ts';

const DOCUMENT = {
  plans: { pro: 60 },
  models: [
    { id: 'embed', embeddings: true, context_length: 8192, price: { input: 0.1 } },
    { id: 'chat', context_length: 8192, max_output_tokens: 100, price: { input: 1, output: 2 } },
  ],
};

it('the routes that a version leaves open follow upstreams that swap their kinds', () => {
  const known = createKnownVersions();
  const origin = { kind: 'seed' as const, who: null, rolled_back_to: null };
  const document = JSON.stringify(DOCUMENT);
  known.replace([{ version: 1, fromMs: 0, appliedMs: 0, origin, document }]);
  const routesOf = (upstreams: readonly NamedUpstream[]) => {
    const { catalogue } = known.choose(upstreams, 1);
    return catalogue?.models[0]?.routes.map(({ upstream }) => upstream);
  };
  const first = [
    { name: 'a', kind: 'chat' },
    { name: 'b', kind: 'native' },
  ] as const;
  const swapped = [
    { name: 'a', kind: 'native' },
    { name: 'b', kind: 'chat' },
  ] as const;
  expect(routesOf(first)).toEqual(['a']);
  expect(routesOf(swapped)).toEqual(['b']);
});
