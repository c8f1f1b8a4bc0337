import { parseUpstreamUrl } from './parse-upstream-url.ts';

/** Checks the address that spans are sent to and returns it as it is written. No message repeats it. */
export function parseCollectorUrl(text: string): string {
  const { username = '', password = '' } = URL.canParse(text) ? new URL(text) : {};
  if (username !== '' || password !== '') {
    throw new Error('must not hold credentials: they belong into headers');
  }
  return parseUpstreamUrl(text);
}
