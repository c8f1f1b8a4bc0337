import { z } from 'zod';
import { ACCOUNT_STATUSES } from '../../accounts/account.ts';
import type { GroupControls } from '../../accounts/group.ts';
import type { KeyControls } from '../../accounts/key.ts';
import { OVERLAP_MAX_MS } from '../../accounts/key-directory.ts';
import { limitsInput } from '../../config/schema/limit-schemas.ts';
import { ROLES } from '../../lib/role.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { parseCredits } from '../../lib/units/micros.ts';
import { END_USER_CHARS_MAX, unifyEndUser } from '../../protocol/find-end-user.ts';
import { choiceOf, filterText, filterTime, pageLimit, refuseReversed } from './query-fields.ts';

const NAME_CHARS_MAX = 100;
const NOTE_CHARS_MAX = 500;
const RPM_MAX = 1_000_000;
const CONCURRENCY_MAX = 100_000;
const MODELS_MAX = 100;
const PAGE = 100;

/** Means the same with the flag `u` and without, since readers of OpenAPI may use either. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is there to refuse them
const NO_CONTROLS = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** The knowledge about the settings that a schema needs. */
interface SchemaOptions {
  /**
   * The name that stands for this model in a list of models. Undefined if there is no such model.
   */
  readonly nameModel: (name: string) => string | undefined;
  /** The plans that are sold now. */
  readonly planNames: () => readonly string[];
  readonly clock: Clock;
}

const text = (charsMax: number, charsMin = 1) => {
  const count = charsMin === 0 ? `at most ${charsMax}` : `${charsMin} to ${charsMax}`;
  const error = `must be text of ${count} characters, without control characters`;
  const isText = new RegExp(`^[^\\p{Cs}]{${charsMin},${charsMax}}$`, 'u');
  return z
    .string({ error })
    .regex(NO_CONTROLS, { error, abort: true })
    .refine((value) => isText.test(value), { error, abort: true })
    .meta({ minLength: charsMin, maxLength: charsMax });
};

const wholeNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
};

const credits = (isAllowed: (micros: number) => boolean, what: string) => {
  const error = `must be ${what}, with at most 6 decimals`;
  return z
    .number({ error })
    .refine(
      (value) => {
        const micros = parseCredits(value);
        return micros !== undefined && isAllowed(micros);
      },
      { error },
    )
    .transform((value) => parseCredits(value) ?? 0);
};

/** In the dashboard, the name is the text of a link. */
const name = text(NAME_CHARS_MAX).refine((value) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(value), {
  error: 'must have a character that can be seen',
});
const timeError = 'must be a time such as 2027-01-31T00:00:00Z';
const time = z.iso
  .datetime({ offset: true, error: timeError })
  .transform((value) => Date.parse(value));

/** Which version the caller changes; without it the last one. */
const baseVersion = wholeNumber(1, Number.MAX_SAFE_INTEGER).optional();

/** Null if the settings decide. */
const lowBalance = credits((micros) => micros >= 0, 'credits of 0 or more').nullish();

function createAccountSchemas({ planNames }: SchemaOptions) {
  const error = () => `must be one of ${planNames().join(', ')}`;
  const plan = z.string({ error }).refine((name) => planNames().includes(name), { error });
  return {
    createAccount: z
      .strictObject({ name, plan, limits: limitsInput.optional(), low_balance: lowBalance })
      .transform(({ low_balance: lowMicros, ...rest }) => ({ ...rest, lowMicros })),
    patchAccount: z
      .strictObject({
        name: name.optional(),
        plan: plan.optional(),
        status: choiceOf(ACCOUNT_STATUSES).optional(),
        limits: limitsInput.optional(),
        low_balance: lowBalance,
        base_version: baseVersion,
      })
      .transform(({ low_balance: lowMicros, base_version: baseVersion, ...rest }) => ({
        patch: { ...rest, lowMicros },
        baseVersion,
      })),
  };
}

const addCredits = z.strictObject({
  amount: credits((micros) => micros !== 0, 'credits other than 0'),
  id: text(NAME_CHARS_MAX),
  note: text(NOTE_CHARS_MAX, 0).default(''),
});

const createOperator = z.strictObject({ name, role: choiceOf(ROLES) });

const rotateKey = z.strictObject({
  overlap_seconds: wholeNumber(0, OVERLAP_MAX_MS / 1_000).optional(),
  base_rotated_at: time.nullish(),
});

const groupId = text(NAME_CHARS_MAX);

const bounds = {
  limits: limitsInput.optional(),
  user_limits: limitsInput.optional(),
  require_user: z.boolean({ error: 'must be true or false' }).optional(),
};

function boundsOf(body: z.output<z.ZodObject<typeof bounds>>) {
  const { limits, user_limits: userLimits, require_user: isUserRequired } = body;
  return { limits, userLimits, isUserRequired };
}

type GivenGroup = z.output<z.ZodObject<typeof bounds>> & Pick<GroupControls, 'name'>;

const controlsOfGroup = (given: GivenGroup): GroupControls => ({
  name: given.name,
  ...boundsOf(given),
});
const createGroup = z.strictObject({ name, ...bounds }).transform(controlsOfGroup);
const patchGroup = z
  .strictObject({ name: name.optional(), ...bounds, base_version: baseVersion })
  .transform((given) => ({ patch: controlsOfGroup(given), baseVersion: given.base_version }));

/** An absent control stays as it is. Null removes it. */
function createControls({ nameModel, clock }: SchemaOptions) {
  const model = z
    .string({ error: 'must be the id or alias of a model' })
    .refine((name) => nameModel(name) !== undefined, {
      error: ({ input }) => `${String(input).slice(0, NAME_CHARS_MAX)} is no model of this gateway`,
    })
    .transform((name) => nameModel(name) ?? name);
  const listError = `must be a list of 1 to ${MODELS_MAX} models, or null for all`;
  return z.strictObject({
    name: name.nullish(),
    rpm: wholeNumber(1, RPM_MAX).nullish(),
    models: z
      .array(model, { error: listError })
      .min(1, { error: listError })
      .max(MODELS_MAX, { error: listError })
      .nullish(),
    monthly_cap: credits((micros) => micros >= 0, 'credits of 0 or more').nullish(),
    concurrency: wholeNumber(1, CONCURRENCY_MAX).nullish(),
    group: groupId.nullish(),
    ...bounds,
    expires_at: time
      .refine((ms) => ms > clock.nowMs(), {
        error: 'must be in the future; to end a key at once, revoke it',
      })
      .nullish(),
  });
}

function controlsOfKey(body: z.output<ReturnType<typeof createControls>>): KeyControls {
  return {
    name: body.name,
    rpm: body.rpm,
    ...boundsOf(body),
    groupId: body.group === null ? '' : body.group,
    models: body.models,
    capMicros: body.monthly_cap,
    inFlightMax: body.concurrency,
    expiresMs: body.expires_at,
  };
}

const accountsQuery = z.strictObject({
  limit: pageLimit(PAGE),
  after: z.string().optional(),
  search: text(NAME_CHARS_MAX).optional(),
});

const userError = 'must be the name of an end user, as requests give it';

const keyLimitsQuery = z.strictObject({
  user: z
    .string({ error: userError })
    .max(END_USER_CHARS_MAX, { error: userError })
    .transform(unifyEndUser)
    .refine((name) => name !== '', { error: userError })
    .optional(),
});

const auditQuery = z
  .strictObject({
    from: filterTime.optional(),
    to: filterTime.optional(),
    account: filterText.optional(),
    key: filterText.optional(),
    before: z.string().optional(),
    limit: pageLimit(PAGE),
  })
  .superRefine(refuseReversed('from', 'to'))
  .transform(({ from, to, ...rest }) => ({ ...rest, fromMs: from, toMs: to }));

/** Every body and query of the admin API. */
export function createAdminSchemas(options: SchemaOptions) {
  const controls = createControls(options);
  return {
    ...createAccountSchemas(options),
    createGroup,
    patchGroup,
    addCredits,
    createOperator,
    rotateKey,
    createKey: controls.transform(controlsOfKey),
    patchKey: controls
      .extend({ base_version: baseVersion })
      .transform((body) => ({ patch: controlsOfKey(body), baseVersion: body.base_version })),
    accountsQuery,
    keyLimitsQuery,
    auditQuery,
  };
}

export type AdminSchemas = ReturnType<typeof createAdminSchemas>;
