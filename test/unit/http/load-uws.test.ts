import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.doUnmock('../../../src/http/uws-builds.ts');
  vi.resetModules();
});

async function loadWithKnownBuilds(known: Readonly<Record<string, string>>) {
  vi.resetModules();
  vi.doMock('../../../src/http/uws-builds.ts', () => ({ UWS_BUILD_SHA256: known }));
  return import('../../../src/http/load-uws.ts');
}

describe('the loader of the native server', () => {
  it('takes a build whose hash is known', async () => {
    const { loadUws } = await import('../../../src/http/load-uws.ts');
    const { uws, label } = loadUws([]);
    expect(label).toMatch(/^(uWebSockets\.js|uws-modern) \(/);
    expect(typeof uws.App).toBe('function');
    expect(String(uws.App)).toContain('[native code]');
  });

  it('refuses every build whose hash is unknown, and tells the hash of each', async () => {
    const { loadUws } = await loadWithKnownBuilds({});
    expect(() => loadUws([])).toThrow(
      /^no native build of uWebSockets\.js loads on \S+, Node \S+ \(ABI \d+\), [\s\S]*\n {2}- uWebSockets\.js \(\S+\): [\s\S]*\n {2}- uws-modern \(\S+\): /,
    );
    expect(() => loadUws([])).toThrow(/has the unknown sha256 [0-9a-f]{64}; if you trust it/);
  });

  it('takes an unknown build that the settings name', async () => {
    const { UWS_BUILD_SHA256 } = await import('../../../src/http/uws-builds.ts');
    const trusted = Object.values(UWS_BUILD_SHA256);
    const { loadUws } = await loadWithKnownBuilds({});
    expect(loadUws(trusted).label).toMatch(/^(uWebSockets\.js|uws-modern) \(/);
  });
});
