import type { Model } from '../../../src/catalogue/resolve-model.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';

/** The models of the default settings, which are models of the catalogue as they are. */
export const MODELS: readonly Model[] = parseConfig({ path: undefined, text: '', env: {} }).models;

export function findModel(id: string): Model {
  const model = MODELS.find((candidate) => candidate.id === id);
  if (model === undefined) throw new Error(`no model ${id}`);
  return model;
}
