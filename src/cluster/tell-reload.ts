import type { Operator } from '../accounts/audit-entry.ts';
import type { AuditLog } from '../accounts/audit-log.ts';
import type { EventHub } from '../ops/create-event-hub.ts';
import type { ReloadEnd } from './create-reload.ts';

export type ReloadAudit = Pick<AuditLog, 'add'>;

interface TellOptions {
  readonly audit: ReloadAudit;
  readonly hub: EventHub;
  readonly node: string;
}

/** A reload is told to who listens, and is in the audit log when it changed the settings. */
export function tellReload({ audit, hub, node }: TellOptions) {
  return async (end: ReloadEnd, who: Operator, versionBefore: string): Promise<void> => {
    if (end.kind !== 'reloaded') {
      const { kind, problems } = end;
      hub.publish({ type: 'reload', data: { status: kind, problems, who } });
      return;
    }
    const { configVersion } = end;
    hub.publish({ type: 'reload', data: { status: end.kind, config_version: configVersion, who } });
    await audit.add({
      ...{ what: 'node.reload', who, node, account: null, key: null, outcome: 'done' },
      before: { config_version: versionBefore },
      after: { config_version: configVersion },
    });
  };
}
