import { expect, it } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { announceNode } from '../../../src/primary/announce-node.ts';

const endpoint = { kind: 'tcp', host: '127.0.0.1', port: 1 };

/** What the sample request is when these models are sold. */
function announce(...models: { id: string; isEmbedding: boolean }[]): string {
  const lines: string[] = [];
  const config = {
    ...{ listen: endpoint, ops: { listen: endpoint }, workers: 1, redis: 'embedded' },
    ...{ dataDir: '/data', guards: { trustedProxies: 1 } },
  } as unknown as Config;
  const rest = { configPath: undefined, plans: [], redisTrouble: undefined, program: 'tollgate' };
  announceNode({ config, models, ...rest }, (line) => lines.push(line));
  const first = lines.findIndex((line) => line.startsWith('Ask a model'));
  return lines.slice(first, first + 3).join('\n');
}

it('the sample request is for a model that takes it', () => {
  const text = { id: 'llm-a', isEmbedding: false };
  const embedding = { id: 'llm-embed', isEmbedding: true };
  expect(announce(text, embedding)).toMatch(/\/v1\/messages [\s\S]*"model":"llm-a","max_tokens"/);
  expect(announce(embedding)).toMatch(/\/v1\/embeddings [\s\S]*"model":"llm-embed","input"/);
});
