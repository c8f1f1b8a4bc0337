/** Where the gateway is for this browser, whatever path a proxy has put before it. */
export const BASE_URL = new URL('.', document.baseURI).href.replace(/\/$/, '');
