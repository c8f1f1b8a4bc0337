// @ts-check
/** The search of the documentation, in the browser. The index is loaded when somebody wants to search. */

/** @typedef {{ title: string, heading: string, url: string, text: string }} Section */

const RESULTS_MAX = 20;
const EXCERPT_LENGTH = 160;

const form = document.querySelector('form');
const input = document.querySelector('input');
const results = document.querySelector('.results');
const article = document.querySelector('article');
/** @type {Promise<Section[]> | undefined} */
let loading;

/** @param {string} url */
const load = async (url) => /** @type {Section[]} */ (await (await fetch(url)).json());

/** Every word has to be there; in a title or a heading it counts for more. */
/** @type {(section: Section, words: string[]) => number} */
function rate(section, words) {
  const title = section.title.toLowerCase();
  const heading = section.heading.toLowerCase();
  const text = section.text.toLowerCase();
  const rates = words.map(
    (word) =>
      (title.includes(word) ? 4 : 0) +
      (heading.includes(word) ? 8 : 0) +
      Math.min(text.split(word).length - 1, 3),
  );
  return rates.includes(0) ? 0 : rates.reduce((sum, each) => sum + each, 0);
}

/** @type {(text: string, words: string[]) => string} */
function excerpt(text, words) {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const place = Math.min(...places, text.length);
  const start = text.lastIndexOf(' ', Math.max(0, place - EXCERPT_LENGTH / 4)) + 1;
  const end = text.indexOf(' ', start + EXCERPT_LENGTH);
  const cut = end === -1 ? text.slice(start) : `${text.slice(start, end)} …`;
  return start > 0 ? `… ${cut}` : cut;
}

/** @type {(tag: string, text: string) => HTMLElement} */
function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

/** @type {(section: Section, words: string[]) => HTMLElement} */
function showResult(section, words) {
  const { title, heading, url, text } = section;
  const item = document.createElement('li');
  const link = element('a', heading === '' ? title : `${title} › ${heading}`);
  link.setAttribute('href', url);
  item.append(link, element('p', excerpt(text, words)));
  return item;
}

async function search() {
  if (!form || !input || !results || !article) return;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  loading ??= load(form.dataset['index'] ?? '');
  const sections = await loading;
  const found = sections
    .map((section) => ({ section, rating: rate(section, words) }))
    .filter(({ rating }) => rating > 0)
    .sort((a, b) => b.rating - a.rating)
    .slice(0, RESULTS_MAX);
  const list = document.createElement('ol');
  list.append(...found.map(({ section }) => showResult(section, words)));
  const count = found.length === 0 ? 'Nothing found' : `Found in ${found.length} sections`;
  results.replaceChildren(element('h2', count), list);
  results.toggleAttribute('hidden', words.length === 0);
  article.toggleAttribute('hidden', words.length > 0);
}

form?.removeAttribute('hidden');
input?.addEventListener('input', search);
form?.addEventListener('submit', async (event) => {
  event.preventDefault();
  // Who types fast is done before the index is there.
  await search();
  results?.querySelector('a')?.click();
});
results?.addEventListener('click', (event) => {
  if (!(event.target instanceof HTMLAnchorElement) || !input) return;
  // A result may be on this very page.
  input.value = '';
  void search();
});
