import type { Model } from '../../../src/catalogue/catalogue.ts';
import type { FileBounds } from '../../../src/catalogue/count-files.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';

/** The models and bounds of the default settings, which are the unchanged ones of the catalogue. */
const DEFAULTS = parseConfig({ path: undefined, text: '', env: {} });
export const MODELS: readonly Model[] = DEFAULTS.models;
export const FILE_BOUNDS: FileBounds = DEFAULTS.estimate;

export function findModel(id: string): Model {
  const model = MODELS.find((candidate) => candidate.id === id);
  if (model === undefined) throw new Error(`no model ${id}`);
  return model;
}
