import { parseUpstreamUrl } from './parse-upstream-url.ts';

/** Checks the address to which spans are sent, and returns it as written. No message repeats it. */
export function parseCollectorUrl(text: string): string {
  const { username = '', password = '' } = URL.canParse(text) ? new URL(text) : {};
  if (username !== '' || password !== '') {
    throw new Error('must not contain credentials: put them in headers');
  }
  return parseUpstreamUrl(text);
}
