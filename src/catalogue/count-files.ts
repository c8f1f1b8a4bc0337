import { isObject } from '../protocol/schema.ts';

/**
 * The tokens of a picture of the size to which most models scale down. A page of a document counts
 * as one picture.
 */
const IMAGE_TOKENS = 1_600;
const BASE64_CHARS_PER_PAGE = 65_536;

/** The files of a request, by how much is known about them. */
export interface FileCounts {
  /** Images by value, which have a bounded number of pixels. */
  images: number;
  /** Images by URL, and those that come in no way that is known. */
  imageLinks: number;
  /** PDFs by value. A small file can have any number of pages. */
  pdfs: number;
  /** Documents by URL, and those that come in no way that is known. */
  documentLinks: number;
  /** Images, documents and all others by id. */
  files: number;
  /** The likely number of tokens of all files together. */
  tokens: number;
}

type Fields = Readonly<Record<string, unknown>>;

const isId = (id: unknown) => typeof id === 'string';

/** Whether a block is an image or document other than text, or a reference to one. */
export function isFile(block: Fields): boolean {
  const { type, source } = block;
  if (type === 'image' || type === 'document') {
    return isObject(source) && source['type'] !== 'text' && source['type'] !== 'content';
  }
  return isId(block['file_id']) || (type === 'url' && typeof block['url'] === 'string');
}

/** Counts a file and returns its likely number of tokens. */
export function addFile(block: Fields, dataBytes: number, counts: FileCounts): number {
  const isImage = block['type'] === 'image';
  counts[findKind(block, isImage)] += 1;
  const pages = isImage ? 1 : Math.max(1, Math.ceil(dataBytes / BASE64_CHARS_PER_PAGE));
  counts.tokens += IMAGE_TOKENS * pages;
  return IMAGE_TOKENS * pages;
}

function findKind(block: Fields, isImage: boolean): Exclude<keyof FileCounts, 'tokens'> {
  const source = isObject(block['source']) ? block['source'] : block;
  if (isId(source['file_id']) || isId(block['file_id'])) return 'files';
  if (source['type'] === 'base64') return isImage ? 'images' : 'pdfs';
  return isImage ? 'imageLinks' : 'documentLinks';
}

/** Whether there are PDFs, by value or by URL. */
export function hasPdfs(counts: FileCounts | undefined): boolean {
  return counts !== undefined && counts.pdfs + counts.documentLinks > 0;
}

/**
 * The most tokens that each file may have. `window` is the model's whole window; 0 means that such
 * files are refused.
 */
export interface FileBounds {
  readonly imageTokens: number;
  readonly imageUrlTokens: number;
  readonly pdfTokens: number | 'window';
  readonly documentUrlTokens: number | 'window';
  readonly fileTokens: number | 'window';
}

/** Returns how many tokens the files may have beyond their likely number. */
export function boundFiles(counts: FileCounts, bounds: FileBounds, windowTokens: number): number {
  const inTokens = (bound: number | 'window') => (bound === 'window' ? windowTokens : bound);
  const tokensMax =
    counts.images * bounds.imageTokens +
    counts.imageLinks * bounds.imageUrlTokens +
    counts.pdfs * inTokens(bounds.pdfTokens) +
    counts.documentLinks * inTokens(bounds.documentUrlTokens) +
    counts.files * inTokens(bounds.fileTokens);
  // However many files there are, one model reads them in one window.
  return Math.max(0, Math.min(tokensMax, windowTokens) - counts.tokens);
}

/**
 * Names a kind of file that is refused, in words for the client; `undefined` if all files are
 * accepted.
 */
export function findUnwantedFile(counts: FileCounts, bounds: FileBounds): string | undefined {
  if (counts.imageLinks > 0 && bounds.imageUrlTokens === 0) return 'images by URL';
  if (counts.pdfs > 0 && bounds.pdfTokens === 0) return 'PDFs';
  if (counts.documentLinks > 0 && bounds.documentUrlTokens === 0) return 'documents by URL';
  if (counts.files > 0 && bounds.fileTokens === 0) return 'files by id';
  return undefined;
}
