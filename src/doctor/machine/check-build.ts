import { loadUws } from '../../http/load-uws.ts';
import { NODE_RELEASES } from '../../http/node-releases.ts';
import { type Finding, failCheck, passCheck, warnCheck } from '../finding.ts';

/** The lowest of those in package.json under `engines`. */
export const NODE_VERSION_MIN = '20.19';

export function judgeNodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = NODE_VERSION_MIN.split('.').map(Number);
  const releases = Object.values(NODE_RELEASES);
  const mend = `Install Node.js ${releases.join(', ')}: ${NODE_VERSION_MIN} or newer.`;
  if (major < majorMin || (major === majorMin && minor < minorMin)) return failCheck(version, mend);
  // A build that the settings name may be for another release.
  return releases.includes(String(major)) ? passCheck(version) : warnCheck(version, mend);
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
