import type { Secret } from '../secret.ts';

/**
 * Where the settings say that the books are; `parse-books-url.ts` reads the address of a server.
 */
export type BooksPlace =
  /** A file in the data folder of the node. */
  | { readonly kind: 'file' }
  /** A server that all nodes share. The URL is one that the client `pg` reads. */
  | { readonly kind: 'postgres'; readonly url: Secret };

/** Where the books are opened. It goes to threads, so the URL is no secret here. */
export type BooksTarget =
  | { readonly kind: 'file'; readonly dir: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly connectionsMax: number };

/** Where days go that leave the books. */
export type ArchivePlace =
  /** An absolute path. */
  | { readonly kind: 'folder'; readonly folder: string }
  | {
      readonly kind: 's3';
      /** The address of the service, without a slash at its end. */
      readonly endpoint: string;
      readonly region: string;
      readonly bucket: string;
      /** Without slashes at its ends. Empty if the archive is the whole bucket. */
      readonly prefix: string;
      readonly accessKey: Secret;
      readonly secretKey: Secret;
    };
