import {
  refuseForbiddenModel,
  refuseUnknownModel,
  restrictCatalogue,
} from '../../catalogue/catalogue.ts';
import { checkModelKind } from '../../catalogue/check-model-kind.ts';
import { estimateTokens } from '../../catalogue/estimate-tokens.ts';
import { checkContentType } from '../../gateway/check-content-type.ts';
import { checkEncoding } from '../../gateway/check-encoding.ts';
import { isLarge, takeLargeBody } from '../../gateway/large-body.ts';
import type { ClientRequest } from '../../gateway/read-request.ts';
import type { Steps } from '../../gateway/steps.ts';
import type { ApiKey } from '../../protocol/admission.ts';
import type { HeaderSource } from '../../protocol/format.ts';
import type { Exchange } from '../exchange.ts';

export interface TokenQuestion {
  readonly body: Uint8Array;
  readonly header: HeaderSource;
  readonly key: ApiKey;
}

export type RequestToCount = Pick<ClientRequest, 'request' | 'source'>;

type Read = (counted: TokenQuestion) => RequestToCount | Promise<RequestToCount>;

/** Returns how many tokens the input of a request is likely to have. It costs nothing. */
export async function countTokens(exchange: Exchange, steps: Steps, read: Read): Promise<number> {
  const key = steps.checkKey(exchange);
  const header = (name: string) => exchange.header(name);
  checkContentType(header('content-type'));
  checkEncoding(header);
  const body = await exchange.body(key);
  const { accountId, models } = await steps.admitFree(key);
  if (isLarge(body.length)) {
    await exchange.body({ ...key, accountId });
    await takeLargeBody(accountId, body.length, steps);
  }
  const { request, source } = await read({ body, header, key });
  const { catalogue } = steps.offer();
  const model = catalogue.resolve(request.model);
  if (model === undefined) throw refuseUnknownModel(request.model);
  const allowed = restrictCatalogue(catalogue, models);
  if (allowed.resolve(request.model) === undefined) throw refuseForbiddenModel(request.model);
  checkModelKind(model, request);
  return estimateTokens(request, steps.estimate.bytesPerToken, source).likely;
}
