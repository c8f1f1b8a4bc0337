import type { UpstreamCallOutline } from '../../upstream-call.ts';

/** Without a store, a model finds its thoughts again only if they go through the client. */
const ENCRYPTED = 'reasoning.encrypted_content';

/** Lists what the upstream is to send beside its answer. `asked` is what the client wants. */
export function listIncluded({ accepts }: UpstreamCallOutline, asked: unknown): string[] {
  const wanted = Array.isArray(asked) ? asked.filter((name) => typeof name === 'string') : [];
  const isCarried = accepts?.has('encrypted_reasoning') === true && !includesEncrypted(wanted);
  return isCarried ? [...wanted, ENCRYPTED] : wanted;
}

/** Whether a client asks for encrypted thoughts itself. */
export function includesEncrypted(asked: unknown): boolean {
  return Array.isArray(asked) && asked.includes(ENCRYPTED);
}
