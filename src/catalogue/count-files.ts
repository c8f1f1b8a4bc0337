import { isObject } from '../protocol/schema.ts';

/** What a picture of the size that most models scale down to costs; a page of a document is one too. */
const IMAGE_TOKENS = 1_600;
const BASE64_CHARS_PER_PAGE = 65_536;

/** What of a request is no text, by what is known of it. */
export interface FileCounts {
  /** By value, which have at most so many pixels. */
  images: number;
  /** By URL or id. */
  imageLinks: number;
  /** By value: a small file can have any number of pages. */
  pdfs: number;
  /** By URL. */
  documentLinks: number;
  /** By id. */
  files: number;
  /** What they are likely to have together. */
  tokens: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** An image or a document that is not text, or something that only points to one. */
export function isFile(block: Fields): boolean {
  const { type, source } = block;
  if (type === 'image' || type === 'document') {
    return isObject(source) && source['type'] !== 'text' && source['type'] !== 'content';
  }
  return (
    typeof block['file_id'] === 'string' || (type === 'url' && typeof block['url'] === 'string')
  );
}

/** Counts one, and tells how many tokens it is likely to have. */
export function addFile(block: Fields, dataBytes: number, counts: FileCounts): number {
  const source = isObject(block['source']) ? block['source'] : block;
  const isLink = source['type'] === 'url';
  const isValue = source['type'] === 'base64';
  let pages = 1;
  if (block['type'] === 'image') {
    if (isValue) counts.images += 1;
    else counts.imageLinks += 1;
  } else {
    if (isValue) counts.pdfs += 1;
    else if (isLink) counts.documentLinks += 1;
    else counts.files += 1;
    pages = Math.max(1, Math.ceil(dataBytes / BASE64_CHARS_PER_PAGE));
  }
  counts.tokens += IMAGE_TOKENS * pages;
  return IMAGE_TOKENS * pages;
}

/** By value or by URL. */
export function hasPdfs(counts: FileCounts | undefined): boolean {
  return counts !== undefined && counts.pdfs + counts.documentLinks > 0;
}

/** Each at most; `window` is as much as the model reads at all, 0 that it is not taken. */
export interface FileBounds {
  readonly imageTokens: number;
  readonly imageUrlTokens: number;
  readonly pdfTokens: number | 'window';
  readonly documentUrlTokens: number | 'window';
  readonly fileTokens: number | 'window';
}

/** What files may have beside the tokens that they are likely to have. */
export function boundFiles(counts: FileCounts, bounds: FileBounds, windowTokens: number): number {
  const inTokens = (bound: number | 'window') => (bound === 'window' ? windowTokens : bound);
  const tokensMax =
    counts.images * bounds.imageTokens +
    counts.imageLinks * bounds.imageUrlTokens +
    counts.pdfs * inTokens(bounds.pdfTokens) +
    counts.documentLinks * inTokens(bounds.documentUrlTokens) +
    counts.files * inTokens(bounds.fileTokens);
  // However many there are, one model reads them.
  return Math.max(0, Math.min(tokensMax, windowTokens) - counts.tokens);
}

/** In the words of a client; `undefined` where all that is there is taken. */
export function findUnwantedFile(counts: FileCounts, bounds: FileBounds): string | undefined {
  if (counts.imageLinks > 0 && bounds.imageUrlTokens === 0) return 'images by URL or id';
  if (counts.pdfs > 0 && bounds.pdfTokens === 0) return 'PDFs';
  if (counts.documentLinks > 0 && bounds.documentUrlTokens === 0) return 'documents by URL';
  if (counts.files > 0 && bounds.fileTokens === 0) return 'files by id';
  return undefined;
}
