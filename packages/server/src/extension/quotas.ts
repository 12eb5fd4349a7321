import type { SottoError } from "@sotto/protocol";
import type { Kysely } from "kysely";

/** A number of uses per window. */
export interface Quota {
  /** For example `client:..`: the part before the colon says what is counted. */
  readonly key: string;
  /** Maximum uses in one window. */
  readonly limit: number;
  /** Length of a window, ms. */
  readonly window: number;
  /** How many uses are counted at once; at most the limit is counted. Default: 1. */
  readonly uses?: number | undefined;
}

/** A use would exceed the quota. */
export interface Exceeded {
  /** Distinguishes it from other results. */
  readonly kind: "exceeded";
  readonly quota: Quota;
  /** When the next window begins, ms. */
  readonly resetAt: number;
}

/** The quotas of a service. */
export interface ServiceQuotas {
  /** A daily quota for each network of a client; larger networks have larger quotas. */
  ofNetworks(kind: string, client: string, limit: number): readonly Quota[];
  /** Counts one use of every quota, or of none if one is exhausted. */
  takeAll(quotas: readonly Quota[]): Promise<Exceeded | undefined>;
  /** The locks of a transaction that calls `takeWithin`. */
  locks(quotas: readonly Quota[]): readonly string[];
  /** Counts like `takeAll` within a transaction of the service's database that holds the locks. */
  takeWithin<Schema>(transaction: Kysely<Schema>, quotas: readonly Quota[]): Promise<Exceeded | undefined>;
  /**
   * The error QUOTA_EXCEEDED.
   * @param what completes the sentence that begins with the limit, such as "new schedules a day"
   */
  refusal(exceeded: Exceeded, what: string): SottoError;
}
