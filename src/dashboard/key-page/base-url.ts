/** The gateway's address for this browser, including any path that a proxy puts before it. */
export const BASE_URL = new URL('.', document.baseURI).href.replace(/\/$/, '');
