// @ts-check
import { Marked } from 'marked';

/**
 * @typedef {object} Section
 * @property {string} heading empty for what stands below the title
 * @property {string} anchor
 * @property {string} text without marks
 */

/**
 * As web pages of repositories make them, so that the same links lead to the same places.
 * @param {string} heading
 */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** @param {string} text */
export const escapeHtml = (text) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** @param {string} html */
const textOf = (html) =>
  html
    .replaceAll(/<\/?(a|code|em|strong)\b[^>]*>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();

/**
 * `findUrl` tells where a file is served that a link names, if it is.
 * @param {string} markdown
 * @param {{ findUrl: (path: string) => string | undefined }} options
 * @returns {{ html: string, sections: Section[] }}
 */
export function renderPage(markdown, { findUrl }) {
  /** @type {(link: string) => string | undefined} */
  const resolveLink = (link) => {
    if (/^(https?:|#)/.test(link)) return link;
    const [path = '', anchor] = link.split('#');
    const url = findUrl(path);
    return url !== undefined && anchor !== undefined ? `${url}#${anchor}` : url;
  };
  const html = new Marked({ renderer: createRenderer(resolveLink) }).parse(markdown, {
    async: false,
  });
  return { html, sections: splitSections(html) };
}

/**
 * @param {(link: string) => string | undefined} resolveLink
 * @returns {import('marked').RendererObject}
 */
function createRenderer(resolveLink) {
  return {
    heading({ tokens, depth }) {
      const content = this.parser.parseInline(tokens);
      const anchor = anchorOf(textOf(content));
      if (depth === 1) return `<h1 id="${anchor}">${content}</h1>\n`;
      return `<h${depth} id="${anchor}"><a href="#${anchor}">${content}</a></h${depth}>\n`;
    },
    link({ href, tokens }) {
      const content = this.parser.parseInline(tokens);
      const url = resolveLink(href);
      return url === undefined ? content : `<a href="${escapeHtml(url)}">${content}</a>`;
    },
    image({ href, text }) {
      const url = resolveLink(href);
      return url === undefined ? '' : `<img src="${escapeHtml(url)}" alt="${escapeHtml(text)}">`;
    },
    paragraph({ tokens }) {
      const content = this.parser.parseInline(tokens).trim();
      return content === '' ? '' : `<p>${content}</p>\n`;
    },
    code({ text }) {
      return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`;
    },
    table({ header, rows }) {
      /** @type {(tag: string, cells: import('marked').Tokens.TableCell[]) => string} */
      const row = (tag, cells) => {
        const inner = cells.map(({ tokens, align }) => {
          const right = align === 'right' ? ' class="right"' : '';
          return `<${tag}${right}>${this.parser.parseInline(tokens)}</${tag}>`;
        });
        return `<tr>${inner.join('')}</tr>\n`;
      };
      const body = rows.map((cells) => row('td', cells)).join('');
      if (textOf(body) === '') return '';
      const head = row('th', header);
      const thead = textOf(head) === '' ? '' : `<thead>${head}</thead>\n`;
      return `<div class="table" tabindex="0"><table>${thead}<tbody>${body}</tbody></table></div>\n`;
    },
    checkbox({ checked }) {
      return checked ? '☑ ' : '☐ ';
    },
    html({ text }) {
      throw new Error(`a page of the documentation has HTML in it: ${text}`);
    },
  };
}

/**
 * @param {string} html
 * @returns {Section[]}
 */
function splitSections(html) {
  return html.split(/(?=<h[1-6] id=)/).map((part) => {
    const [, depth = '', anchor = '', heading = ''] =
      /^<h(\d) id="([^"]*)">(.*)<\/h\d>/.exec(part) ?? [];
    const text = textOf(part.replace(/^<h\d.*<\/h\d>/, ''));
    return depth === '1'
      ? { heading: '', anchor: '', text }
      : { heading: textOf(heading), anchor, text };
  });
}
