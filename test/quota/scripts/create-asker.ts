import { NOW_MS, type openScripts, requestNumber } from './open-scripts.ts';

/** Asks at times relative to `NOW_MS`, each time for another request. */
export function createAsker(scripts: ReturnType<typeof openScripts>) {
  let requests = 0;

  /**
   * Asks for one more request. Returns how many are left, or whose limit refuses it and for how
   * long.
   */
  const ask = async (atMs: number): Promise<string> => {
    await scripts.setClock(NOW_MS + atMs);
    requests += 1;
    const reply = await scripts.admit({ requestId: requestNumber(requests), holdMicros: 0 });
    if (reply.kind === 'rate') return `${reply.scope} ${reply.waitMs}`;
    if (reply.kind === 'admitted') return `${reply.rate.left} left`;
    throw new Error(reply.kind);
  };

  return {
    ask,
    async askAll(...times: readonly number[]): Promise<string[]> {
      const replies: string[] = [];
      for (const time of times) replies.push(await ask(time));
      return replies;
    },
    logOf: async () => (await scripts.admissions()).map((time) => time - NOW_MS),
  };
}
