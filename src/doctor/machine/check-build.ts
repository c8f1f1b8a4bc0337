import { loadUws } from '../../http/load-uws.ts';
import { NODE_RELEASES } from '../../http/node-releases.ts';
import { type Finding, failCheck, passCheck, warnCheck } from '../finding.ts';

/** The ranges in package.json under `engines`. Vite, which builds the program, asks for these. */
export const NODE_VERSIONS_MIN: Readonly<Record<string, string>> = { '20': '20.19', '22': '22.12' };

export function judgeNodeVersion(version: string): Finding {
  const [major = '', minor] = version.split('.');
  const releases = Object.values(NODE_RELEASES);
  const names = releases.map((release) => {
    const versionMin = NODE_VERSIONS_MIN[release];
    return versionMin === undefined ? release : `${release} (${versionMin} or newer)`;
  });
  const advice = `Install Node.js ${names.join(', ')}.`;
  const minorMin = NODE_VERSIONS_MIN[major]?.split('.')[1];
  const isTooOld = Number(major) < Number(releases[0]) || Number(minor) < Number(minorMin ?? 0);
  if (isTooOld) return failCheck(version, advice);
  // A build that the settings name may be for another release.
  return releases.includes(major) ? passCheck(version) : warnCheck(version, advice);
}

export function checkNativeBuild(uwsSha256: readonly string[]): Finding {
  try {
    return passCheck(loadUws(uwsSha256).label);
  } catch (error) {
    return failCheck(
      (error as Error).message.replaceAll(/\s*\n\s*/g, ' '),
      'Run npm ci with the Node.js that will run the node, or see "Builds of the HTTP server" in the documentation.',
    );
  }
}
