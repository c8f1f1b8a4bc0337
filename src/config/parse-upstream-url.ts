import { hasCredentials } from './has-credentials.ts';

const URL_CHARACTERS_MAX = 2_048;

/** Checks the address of an upstream and returns it as written. No message repeats it. */
export function parseUpstreamUrl(text: string): string {
  if (!/^https?:\/\/[^\s\p{Cc}]+$/u.test(text) || text.length > URL_CHARACTERS_MAX) {
    throw new Error('must be a URL that begins with http:// or https://');
  }
  if (!URL.canParse(text)) throw new Error('is not a valid URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw new Error('must not contain credentials: put them in api_key');
  }
  if (text.includes('#')) throw new Error('must not have a fragment: it is never sent');
  if (hasCredentials(url.searchParams)) {
    throw new Error('must not contain credentials: put them in api_key or headers');
  }
  return text;
}
