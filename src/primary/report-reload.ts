import type { Operator } from '../accounts/audit/audit-entry.ts';
import type { AuditLog } from '../accounts/audit/audit-log.ts';
import { diffSettings } from '../config/diff-settings.ts';
import type { PublishEvent } from '../ops/event-hub.ts';
import { type ConfigInUse, versionOf } from './read-next-config.ts';
import type { ReloadRun } from './reload.ts';

export type ReloadAudit = Pick<AuditLog, 'add'>;

interface ReportOptions {
  readonly audit: ReloadAudit;
  readonly publish: PublishEvent;
  readonly node: string;
}

/**
 * Publishes the end of every reload as an event. A reload that took place is also written to the
 * audit log, with the settings it changed.
 */
export function reportReload({ audit, publish, node }: ReportOptions) {
  return async (run: ReloadRun<ConfigInUse>, who: Operator): Promise<void> => {
    const { end, before, after } = run;
    if (end.kind !== 'reloaded') {
      const { kind, problems } = end;
      publish({ type: 'reload', data: { status: kind, problems, who } });
      return;
    }
    const { configVersion } = end;
    publish({ type: 'reload', data: { status: end.kind, config_version: configVersion, who } });
    const changed = diffSettings(before.config, after.config);
    await audit.add({
      ...{ what: 'node.reload', who, node, account: null, key: null, outcome: 'done' },
      before: { config_version: versionOf(before), ...changed.before },
      after: { config_version: configVersion, ...changed.after },
    });
  };
}
