// @ts-check
import { escapeHtml } from './render-page.mjs';

/**
 * @param {{ name: string, title: string, html: string }} page
 * @param {object} site
 * @param {import('./read-contents.mjs').Group[]} site.groups
 * @param {{ style: string, script: string, icon: string, index: string }} site.assets
 * @param {string} site.base
 */
export function layOutPage({ name, title, html }, { groups, assets, base }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Tollgate</title>
<link rel="icon" type="image/svg+xml" href="${assets.icon}">
<link rel="stylesheet" href="${assets.style}">
<script type="module" src="${assets.script}"></script>
</head>
<body>
<a class="skip-link" href="#page">Skip to content</a>
<header class="top">
<a class="brand" href="${base}">Tollgate</a>
<form role="search" data-index="${assets.index}" hidden>
<input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off" spellcheck="false">
</form>
<a class="to-contents" href="#contents">Contents</a>
<a href="/">Dashboard</a>
</header>
<div class="columns">
<main id="page" tabindex="-1">
<section class="results" aria-label="Search results" aria-live="polite" hidden></section>
<article>
${html}</article>
</main>
<nav id="contents" aria-label="Contents" tabindex="-1">
${groups.map((group) => layOutGroup(group, name, base)).join('')}</nav>
</div>
</body>
</html>
`;
}

/**
 * @param {import('./read-contents.mjs').Group} group
 * @param {string} current
 * @param {string} base
 */
function layOutGroup({ title, pages }, current, base) {
  const links = pages.map((page) => {
    const mark = page.name === current ? ' aria-current="page"' : '';
    return `<li><a href="${base}/${page.name}"${mark}>${escapeHtml(page.title)}</a></li>\n`;
  });
  return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${links.join('')}</ul>\n`;
}
