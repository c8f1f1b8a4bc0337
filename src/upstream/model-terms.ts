import { ANY_NAME } from '../lib/name-pattern.ts';
import type { OutputLimitField } from '../protocol/chat/requests/encode-request.ts';
import type { OptionalFeature } from '../protocol/upstream-call.ts';

/** What is set for each model of an upstream, by our ids. */
export interface ModelSettings {
  /** The upstream's own names for models, where they differ. */
  readonly modelNames: Readonly<Record<string, string>>;
  /**
   * For a chat upstream: the field for the output limit, `*` for all other models. If absent, the
   * client's own field.
   */
  readonly outputLimitFields: Readonly<Record<string, OutputLimitField>>;
  /** `*` for all other models. If absent, nothing. */
  readonly accepts: Readonly<Record<string, readonly OptionalFeature[]>>;
  /** Whether translated requests say how to sample; `*` for all other models. */
  readonly sampling: Readonly<Record<string, 'pass' | 'drop'>>;
}

/** How an upstream is to be asked for one model. */
export interface ModelTerms {
  readonly vendorModel: string;
  readonly outputLimitField: OutputLimitField | undefined;
  readonly accepts: ReadonlySet<OptionalFeature>;
  readonly sampling: 'pass' | 'drop' | undefined;
}

/** Puts the terms of each model together once, when it is asked for the first time. */
export function createModelTerms(settings: ModelSettings): (model: string) => ModelTerms {
  const vendorModels = new Map(Object.entries(settings.modelNames));
  const known = new Map<string, ModelTerms>();
  return (model) => {
    let terms = known.get(model);
    if (terms === undefined) {
      terms = {
        vendorModel: vendorModels.get(model) ?? model,
        outputLimitField: findForModel(settings.outputLimitFields, model),
        accepts: new Set(findForModel(settings.accepts, model)),
        sampling: findForModel(settings.sampling, model),
      };
      known.set(model, terms);
    }
    return terms;
  };
}

/** Ids of models may be any words, also names that every object has. */
export function findForModel<Value>(
  byModel: Readonly<Record<string, Value>>,
  model: string,
): Value | undefined {
  if (Object.hasOwn(byModel, model)) return byModel[model];
  return Object.hasOwn(byModel, ANY_NAME) ? byModel[ANY_NAME] : undefined;
}
