import { createRequire } from 'node:module';

/**
 * The package finds itself by its own name, so src and dist need not know where package.json is.
 */
export function packageVersion(): string {
  const packageFile: { readonly version: string } = createRequire(import.meta.url)(
    'tollgate/package.json',
  );
  return packageFile.version;
}
