import { parseBooksUrl } from '../../lib/address/parse-books-url.ts';
import { DAY_MS } from '../../lib/units/time-units.ts';
import {
  duration,
  filePath,
  namedText,
  parsableText,
  secret,
  settingsMap,
  wholeNumber,
} from './schema-parts.ts';

const CONNECTIONS_MAX = 100;
/** The books of today and yesterday are being written, so they stay. */
const KEEP_MIN_MS = 2 * DAY_MS;
const KEEP_MAX_MS = 36_500 * DAY_MS;
const WAITING_ENTRIES_MAX = 1_000_000_000;

const S3_ENDPOINT =
  'the address of an S3 service, such as https://s3.eu-central-1.amazonaws.com, without a path';

const s3Endpoint = namedText(S3_ENDPOINT, /^https?:\/\/[^\s/?#@\p{Cc}]{1,255}$/u).refine(
  (text) => URL.canParse(text),
  { error: `must be ${S3_ENDPOINT}` },
);

const s3 = settingsMap({
  endpoint: s3Endpoint,
  region: namedText('the name of a region', /^[a-z0-9-]{1,64}$/).prefault('us-east-1'),
  bucket: namedText('the name of a bucket', /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
  prefix: namedText(
    'at most 512 letters, digits and . _ = - /, without a slash at the ends',
    /^(?=.{0,512}$)(?:[\w.=-]+(?:\/[\w.=-]+)*)?$/,
  ).prefault(''),
  access_key: secret,
  secret_key: secret,
});

/** `find-conflicts.ts` has the rule that an archive is one place, not two. */
export const books = settingsMap({
  url: parsableText('a URL such as postgres://host:5432/tollgate', parseBooksUrl).optional(),
  connections: wholeNumber(1, CONNECTIONS_MAX).prefault(8),
  keep: duration(KEEP_MIN_MS, KEEP_MAX_MS).prefault('90d'),
  archive: settingsMap({ folder: filePath.optional(), s3: s3.optional() }).optional(),
  waiting_entries_max: wholeNumber(1, WAITING_ENTRIES_MAX).prefault(5_000_000),
});
