import { z } from 'zod';
import { VERSION_KINDS } from '../../catalogue-store/catalogue-version.ts';
import { catalogueSchema } from '../../config/schema/catalogue-schema.ts';
import { answeredLimit } from '../../config/schema/limit-schemas.ts';
import { whoAnswer } from './answer-schemas.ts';

const timeError = 'must be a time such as 2027-01-31T00:00:00Z';
const numberError = 'must be the number of a version';

const version = z.int({ error: numberError }).min(1, { error: numberError });
const versionText = z
  .string({ error: numberError })
  .regex(/^[1-9]\d{0,8}$/, { error: numberError })
  .transform(Number);

export const changeCatalogue = z.strictObject({
  base_version: version,
  catalogue: catalogueSchema,
  from: z.iso
    .datetime({ offset: true, error: timeError })
    .transform((text) => Date.parse(text))
    .nullish(),
  dry_run: z.boolean({ error: 'must be true or false' }).default(false),
});

export const rollBackCatalogue = z.strictObject({ base_version: version, version });

export const diffQuery = z.strictObject({ from: versionText, to: versionText });

const time = z.iso.datetime();
const count = z.int().min(0);

const note = {
  version: count,
  from: time,
  applied_at: time,
  kind: z.enum(VERSION_KINDS),
  /** Null for the first version, which the settings of a node made. */
  who: whoAnswer.nullable(),
  rolled_back_to: count.nullable(),
};

const changes = z.array(
  z.strictObject({ field: z.string(), before: z.unknown(), after: z.unknown() }),
);

/** Plans and models under the names of the settings file. */
const catalogue = z.looseObject({
  plans: z.record(
    z.string(),
    z.union([count, z.strictObject({ requests: count, limits: z.array(answeredLimit) })]),
  ),
  models: z.array(z.looseObject({ id: z.string() })),
});

/** Null where the settings file rules. */
export const catalogueAnswer = z.strictObject({
  rules: z.enum(['file', 'store']),
  version: count.nullable(),
  from: time.nullable(),
  applied_at: time.nullable(),
  /** What the node that answers sells. */
  sold_version: count.nullable(),
  /** The version that should hold, if the node that answers cannot sell it. */
  refused: z.strictObject({ version: count, problems: z.array(z.string()) }).nullable(),
  catalogue,
});

/** Without a version if it was only tried. */
export const catalogueChangeAnswer = z.strictObject({
  version: count.nullable(),
  from: time.nullable(),
  changes,
  replicated: count,
});

export const catalogueHistoryAnswer = z.strictObject({ data: z.array(z.strictObject(note)) });
export const catalogueVersionAnswer = z.strictObject({ ...note, catalogue });
export const catalogueDiffAnswer = z.strictObject({ from: count, to: count, changes });
