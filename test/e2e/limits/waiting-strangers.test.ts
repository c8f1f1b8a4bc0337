import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { inventKey } from '../../support/clients/invent-key.ts';
import { openRawConnection, type RawConnection } from '../../support/clients/raw-connection.ts';
import { scrape } from '../../support/clients/scrape.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const MIB = 1024 * 1024;
const STRANGERS = 600;
const SENT_BYTES = 150;

describe('strangers who announce a megabyte each and send nearly nothing of it', () => {
  const gateway = useGateway({ config: FAST_CONFIG });
  const strangers: RawConnection[] = [];
  const running = async () => (await scrape(gateway())).sum('tollgate_exchanges_active') ?? 0;

  const announce = async () => {
    const connection = await openRawConnection(gateway().port);
    const lines = `Host: a\r\nx-api-key: ${inventKey()}\r\nllm-version: 2023-06-01\r\n`;
    connection.send(
      `POST /v1/messages HTTP/1.1\r\n${lines}Content-Length: ${MIB}\r\n\r\n${'x'.repeat(SENT_BYTES)}`,
    );
    strangers.push(connection);
  };

  beforeAll(async () => {
    for (let i = 0; i < STRANGERS; i++) await announce();
    await waitUntil(async () => (await running()) >= STRANGERS, 'all have begun');
  });
  afterAll(() => {
    for (const stranger of strangers) stranger.destroy();
  });

  it('keep out no customer, however large a request is', async () => {
    for (const length of [10, 100_000, 400_000]) {
      const message = messageOf('ab '.repeat(length / 3));
      expect((await askModel(gateway().url, gateway().key(), message)).status).toBe(200);
    }
  });

  it('keep out no key that the node has never seen, be its first request a large one', async () => {
    const operator = admin(gateway());
    const { key } = await operator.createKey(await operator.createAccount());
    const message = messageOf('ab '.repeat(130_000));
    expect((await askModel(gateway().url, key, message)).status).toBe(200);
    expect(await running()).toBeGreaterThanOrEqual(STRANGERS);
  });
});
