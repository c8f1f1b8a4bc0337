import { readdirSync, readFileSync } from 'node:fs';

export const DOCS_DIR = 'src/docs';
export const CONTENTS_FILE = `${DOCS_DIR}/README.md`;

/** The files of all pages except the contents page. */
export function listPageFiles(): string[] {
  return readdirSync(DOCS_DIR)
    .filter((name) => name.endsWith('.md') && `${DOCS_DIR}/${name}` !== CONTENTS_FILE)
    .map((name) => `${DOCS_DIR}/${name}`);
}

/** A page of src/docs by its name, such as `settings`. */
export function readPage(name: string): string {
  return readFileSync(`${DOCS_DIR}/${name}.md`, 'utf8');
}

/** The text below a second-level heading, up to the next one. */
export function sectionOf(text: string, title: string): string {
  const [, section] = text.split(`\n## ${title}\n`);
  if (section === undefined) throw new Error(`there is no section ${title}`);
  return section.split('\n## ')[0] ?? '';
}

/** The nth code block in a language. */
export function blockOf(text: string, language: string, index = 0): string {
  const blocks = [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))];
  const found = blocks[index]?.[1];
  if (found === undefined) throw new Error(`there is no such ${language} block`);
  return found;
}

/** The rows of all tables, without headers, rules and code marks. */
export function rowsOf(text: string): string[][] {
  return text
    .split('\n')
    .filter((line, index, lines) => {
      const isRule = /^\|[-|:]+\|$/.test(line);
      const isHead = /^\|[-|:]+\|$/.test(lines[index + 1] ?? '');
      return line.startsWith('|') && !isRule && !isHead;
    })
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.replaceAll('`', '').trim()),
    );
}
