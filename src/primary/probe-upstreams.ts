import type { Config, UpstreamConfig } from '../config/config.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { readUpstreamTls } from '../upstream/read-upstream-tls.ts';
import { startUpstreamProbe, type UpstreamProbe } from '../upstream/start-upstream-probe.ts';

export interface NodeProbes {
  /** The upstreams that do not answer. */
  downNames(): readonly string[];
  /** Undefined for an upstream that is not probed. */
  find(name: string): UpstreamProbe | undefined;
  /**
   * An upstream that is down stays down until it answers. Throws and changes nothing if the
   * settings cannot be used.
   */
  changeConfig(config: Config): void;
  stop(): void;
}

interface NodeProbesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: () => void;
}

/** Probes each upstream once per node, for all of its workers. */
export function probeUpstreams(config: Config, options: NodeProbesOptions): NodeProbes {
  const { clock, log, onChange } = options;
  let probes = new Map<string, UpstreamProbe>();

  const start = (upstream: UpstreamConfig, isDown: boolean): UpstreamProbe | undefined => {
    const { name, kind, url, apiKey, headers, probe } = upstream;
    if (kind === 'simulated' || url === undefined || probe === undefined) return undefined;
    return startUpstreamProbe({
      ...{ kind, url, apiKey, headers, isDown, clock },
      ...probe,
      tls: readUpstreamTls(upstream),
      onChange(isDownNow, result) {
        if (isDownNow) log.warn({ upstream: name, result }, 'an upstream does not answer');
        else log.info({ upstream: name, result }, 'an upstream answers again');
        onChange();
      },
    });
  };
  const stop = () => {
    for (const probe of probes.values()) probe.stop();
  };
  const startAll = ({ upstreams }: Config) => {
    for (const upstream of upstreams) readUpstreamTls(upstream);
    const before = probes;
    stop();
    probes = new Map();
    for (const upstream of upstreams) {
      const probe = start(upstream, before.get(upstream.name)?.isDown() ?? false);
      if (probe !== undefined) probes.set(upstream.name, probe);
    }
  };
  startAll(config);

  return {
    downNames: () => [...probes].flatMap(([name, probe]) => (probe.isDown() ? [name] : [])),
    find: (name) => probes.get(name),
    changeConfig(next) {
      startAll(next);
      onChange();
    },
    stop,
  };
}
