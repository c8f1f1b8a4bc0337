/** The text is that of the client for one that a node has taken: see `classify-redis-error.ts`. */
export function failAfter<Reply>(reply: Promise<Reply>, timeoutMs: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('Command timed out')), timeoutMs);
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
