/**
 * The message is the one that the Redis client has for a command that timed out;
 * `classify-redis-error.ts` knows it.
 */
export function failAfter<Reply>(reply: Promise<Reply>, timeoutMs: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('Command timed out')), timeoutMs);
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
