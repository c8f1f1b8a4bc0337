/** How the ingester divides its time; tests are in more of a hurry. */
export interface IngestPace {
  /** From the end of a round that read everything to the next. */
  readonly roundMs: number;
  /** Between two attempts to take the lease, while another node has it. */
  readonly othersRoundMs: number;
  /** Between two batches of an ingester that is behind, so that a small machine serves requests. */
  readonly batchRestMs: number;
  /** An ingester that is further behind works without rests in between. */
  readonly lateMs: number;
  /** Younger entries may still be lost in a failover, and come back under other ids. */
  readonly entryAgeMs: number;
  /** How long entries stay in Redis after they could have gone. */
  readonly keepMs: number;
  /** Between two readings of the ends of all streams. */
  readonly lookMs: number;
  /** Between two trimmings. */
  readonly trimMs: number;
  readonly leaseMs: number;
  /** A round renews its lease for this long: one that takes longer may get no answer any more. */
  readonly renewedMsMax: number;
  /** A node that cannot write leaves the lease to others for this long. */
  readonly restMs: number;
  readonly batchEntriesMax: number;
  readonly batchBytesMax: number;
  /** Between the starts of two readings of all names. */
  readonly namesMs: number;
}

export const INGEST_PACE: IngestPace = {
  roundMs: 1_000,
  othersRoundMs: 3_000,
  batchRestMs: 20,
  lateMs: 5_000,
  entryAgeMs: 1_000,
  keepMs: 600_000,
  lookMs: 10_000,
  trimMs: 30_000,
  leaseMs: 10_000,
  renewedMsMax: 30_000,
  restMs: 15_000,
  batchEntriesMax: 2_000,
  batchBytesMax: 4 * 1024 ** 2,
  namesMs: 600_000,
};
