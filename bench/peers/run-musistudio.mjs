import { createRequire } from 'node:module';

// Its other build asks for `require` where there is none.
const { default: Server } = createRequire(import.meta.url)('@musistudio/llms');
const [, , port, upstreamPort] = process.argv;
const provider = {
  name: 'mock',
  api_base_url: `http://127.0.0.1:${upstreamPort}/v1/chat/completions`,
  api_key: 'any',
  models: ['m-1'],
};
const initialConfig = { providers: [provider], HOST: '127.0.0.1', PORT: port };
await new Server({ initialConfig, useJsonFile: false, useEnvFile: false, logger: false }).start();
