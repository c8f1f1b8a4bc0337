export interface Visit {
  readonly status: number;
  readonly url: string;
  readonly headers: Headers;
  readonly text: string;
}

/** A browser without pages: it keeps cookies by host, and follows redirects as far as it is told. */
export function createCookieJar() {
  const cookies = new Map<string, string>();

  const visit = async (url: string, init: RequestInit = {}): Promise<Visit> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, ...(init.headers as Record<string, string>) };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const isOver =
        value === '' || /max-age=0/i.test(line) || /expires=Thu, 01 Jan 1970/i.test(line);
      if (isOver) cookies.delete(name);
      else cookies.set(name, value);
    }
    const { status } = response;
    return { status, url, headers: response.headers, text: await response.text() };
  };

  return {
    cookies,
    visit,
    /** Follows redirects until one leads to an address that this says. */
    async follow(url: string, isLast: (next: string) => boolean): Promise<string> {
      let next = url;
      for (let i = 0; i < 10; i++) {
        const { headers, status, text } = await visit(next);
        const location = headers.get('location');
        if (location === null) throw new Error(`${next} answered ${status}: ${text}`);
        next = new URL(location, next).href;
        if (isLast(next)) return next;
      }
      throw new Error('too many redirects');
    },
  };
}
