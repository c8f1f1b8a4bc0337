import { z } from 'zod';
import { ROLES } from '../../lib/role.ts';
import {
  duration,
  expected,
  namedText,
  parsableText,
  secret,
  settingsMap,
} from './schema-parts.ts';

const SESSION_MIN_MS = 60_000;
const SESSION_MAX_MS = 24 * 3_600_000;
const ROLES_MAX = 100;
const CALLBACK_PATH = '/oidc/callback';
const OWN_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Codes and cookies of people must not go over the network in the clear. */
function parseSafeUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && OWN_HOSTS.has(url.hostname));
  if (url === undefined || !isSafe || url.username !== '' || url.password !== '') {
    throw new Error('must be a URL that begins with https://, or with http:// on this machine');
  }
  if (url.search !== '' || url.hash !== '') throw new Error('must end with its path');
  return url;
}

function parseRedirectUrl(text: string): string {
  const url = parseSafeUrl(text);
  if (url.pathname !== CALLBACK_PATH) {
    throw new Error(`must be the address of the dashboard and ${CALLBACK_PATH}`);
  }
  return url.href;
}

const claimValue = z.string().regex(/^\P{Cc}{1,256}$/u);
const role = z.enum(ROLES, { error: expected(`one of ${ROLES.join(', ')}`) });
const rolesError = expected(
  `a map of 1 to ${ROLES_MAX} values of the claim to ${ROLES.join(', ')}`,
);

/** How people sign in to the dashboard with accounts of an OpenID provider. */
export const oidc = settingsMap({
  issuer: parsableText('a URL such as https://login.example.com', (text) => {
    parseSafeUrl(text);
    return text;
  }),
  client_id: namedText('text of 1 to 256 visible ASCII characters', /^[\x21-\x7e]{1,256}$/),
  client_secret: secret.optional(),
  redirect_url: parsableText(
    'a URL such as https://gateway.example.com/oidc/callback',
    parseRedirectUrl,
  ),
  role_claim: namedText('the name of a claim, at most 256 characters', /^\P{Cc}{1,256}$/u).prefault(
    'groups',
  ),
  roles: z
    .record(claimValue, role, { error: rolesError })
    .refine((roles) => Object.keys(roles).length > 0 && Object.keys(roles).length <= ROLES_MAX, {
      error: rolesError,
    }),
  scopes: namedText(
    'names of scopes with spaces between, openid among them',
    /^(?=(?:.* )?openid(?: |$))[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/,
  ).prefault('openid profile'),
  session: duration(SESSION_MIN_MS, SESSION_MAX_MS).prefault('8h'),
  session_idle: duration(SESSION_MIN_MS, SESSION_MAX_MS).prefault('1h'),
});
