const URL_CHARACTERS_MAX = 2_048;

/** Checks the address of an upstream and returns it as it is written. No message repeats it. */
export function parseUpstreamUrl(text: string): string {
  if (!/^https?:\/\/[^\s\p{Cc}]+$/u.test(text) || text.length > URL_CHARACTERS_MAX) {
    throw new Error('must be a URL that begins with http:// or https://');
  }
  if (!URL.canParse(text)) throw new Error('is not a valid URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw new Error('must not hold credentials: they belong into api_key');
  }
  if (/[?#]/.test(text)) throw new Error('must end with the path: a request adds its own');
  return text;
}
