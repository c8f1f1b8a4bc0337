/** Text that may stand in a page as it is. */
export interface Html {
  readonly html: string;
}

type Part = string | number | Html | readonly Html[];

/** Writes a part of a page: every text that is put in stays text. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return {
    html: texts.map((text, i) => text + showPart(parts[i] ?? '')).join(''),
  };
}

function showPart(part: Part): string {
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return part.replaceAll(/[&<>"']/g, (mark) => MARKS[mark] ?? '');
  if ('html' in part) return part.html;
  return part.map(({ html: text }) => text).join('');
}

const MARKS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
