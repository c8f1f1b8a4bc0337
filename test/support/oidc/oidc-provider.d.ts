/** The parts that tests use; the package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Interaction {
    readonly params: { readonly client_id: string };
  }

  // biome-ignore lint/style/noDefaultExport: the package has one
  export default class Provider {
    constructor(issuer: string, configuration: object);
    readonly Grant: new (subject: {
      readonly accountId: string;
      readonly clientId: string;
    }) => { addOIDCScope(scope: string): void; save(): Promise<string> };
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options: object,
    ): Promise<void>;
  }
}
