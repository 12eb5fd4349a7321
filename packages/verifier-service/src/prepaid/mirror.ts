// A mirror of prepaid keys. It keeps the first key that a wallet signed for each origin, value and epoch, so that a
// merchant cannot show each payer a key of its own. It sends no request to an origin.
import { ContractChecks, chainCall, openSignatureChain } from "@sotto/phone-registry";
import {
  checkScheduleSignature,
  decodeSignedSchedule,
  encodeSignedSchedule,
  prepaidChallengeDigest,
  type SignedSchedule,
  scheduleDigest,
  scheduledKeys,
} from "@sotto/prepaid";
import { type Address, type EthCall, SottoError } from "@sotto/protocol";
import type { ServiceLog } from "@sotto/server";
import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors.ts";
import { prepaidClientQuotas, prepaidQuota, quotaExceeded } from "../operations/quotas.ts";
import type { ServiceMetrics } from "../ops/metrics.ts";
import type { Exceeded, Store } from "../store/index.ts";

/** Maximum schedules of one wallet and origin: twelve years, with an added value each year. */
const MAX_SCHEDULES = 24;

export interface MirrorParts {
  readonly config: Pick<Config, "chainId" | "pool" | "prepaidClientQuota" | "prepaidQuota">;
  readonly store: Pick<Store, "prepaid" | "quotas">;
  /** Checks signatures of contract wallets. */
  readonly contracts: Pick<ContractChecks, "run">;
  readonly metrics: Pick<ServiceMetrics, "prepaidPushed">;
}

/** How many keys of a pushed schedule are new. */
export interface PushResult {
  readonly accepted: number;
  readonly known: number;
}

export class PrepaidMirror {
  readonly #parts: MirrorParts;

  constructor(parts: MirrorParts) {
    this.#parts = parts;
  }

  /**
   * Keeps a signed schedule, all of it or nothing.
   * @param client the id under which quotas count the client
   * @throws ServiceError QUOTA_EXCEEDED, PREPAID_SCHEDULE_INVALID, WRONG_DEPLOYMENT, PREPAID_SIGNATURE_INVALID,
   *   PREPAID_SCHEDULE_CONFLICT, PREPAID_SCHEDULES_FULL; PhoneError CONTRACT_CHECKS_LIMITED, CHAIN_UNAVAILABLE
   */
  async push(body: unknown, client: string): Promise<PushResult> {
    const { metrics } = this.#parts;
    try {
      const result = await this.#push(body, client);
      metrics.prepaidPushed(result.accepted > 0 ? "accepted" : "known");
      return result;
    } catch (error) {
      metrics.prepaidPushed(error instanceof SottoError ? error.code : "INTERNAL");
      throw error;
    }
  }

  async #push(body: unknown, client: string): Promise<PushResult> {
    const { config, store, contracts } = this.#parts;
    // First, because decoding 144 keys takes milliseconds.
    const over = await store.quotas.takeAll(prepaidClientQuotas(config, client));
    if (over !== undefined) throw exceeded(over);
    const signed = decode(body);
    const { schedule } = signed;
    if (schedule.chainId !== BigInt(config.chainId) || schedule.pool !== config.pool)
      throw new ServiceError(
        "WRONG_DEPLOYMENT",
        `the schedule is for another deployment: expected chainId ${config.chainId} and pool ${config.pool}`,
      );
    if (!(await contracts.run(client, (call) => isSigned(signed, call))))
      throw new ServiceError(
        "PREPAID_SIGNATURE_INVALID",
        `the signature is not ${schedule.wallet}'s over the EIP-712 struct PrepaidSchedule with these fields`,
      );
    const kept = await store.prepaid.keep(
      {
        ...this.#owner(schedule.wallet, schedule.origin),
        digest: scheduleDigest(schedule),
        content: JSON.stringify(encodeSignedSchedule(signed)),
        keys: scheduledKeys(schedule).map(({ epoch, value, key }) => ({ epoch, value: String(value), id: key.id })),
      },
      { perOwner: MAX_SCHEDULES, quotas: [prepaidQuota(config)] },
    );
    if (kept.kind === "exceeded") throw exceeded(kept);
    if (kept.kind === "full")
      throw new ServiceError(
        "PREPAID_SCHEDULES_FULL",
        `this service keeps ${MAX_SCHEDULES} schedules of this wallet and origin, and no more`,
      );
    if (kept.kind === "conflict")
      throw new ServiceError(
        "PREPAID_SCHEDULE_CONFLICT",
        `this service keeps another key for the value ${kept.key.value} in ${kept.key.epoch}, or this key for another value or epoch; nothing of the schedule was kept`,
      );
    return { accepted: kept.accepted, known: kept.known };
  }

  /**
   * The schedules of a wallet for an origin, the oldest first, as JSON: a list may have 2 MB, so it is never parsed.
   * @throws SottoError INVALID_STRING
   */
  async list(wallet: Address, origin: string): Promise<string> {
    // Rejects texts that are not an origin: a database may not store every text.
    prepaidChallengeDigest(origin);
    const kept = await this.#parts.store.prepaid.list(this.#owner(wallet, origin));
    const entries = kept.map(
      ({ content, receivedAt }) => `${content.slice(0, -1)},"receivedAt":${Math.floor(receivedAt / 1000)}}`,
    );
    return `[${entries.join(",")}]`;
  }

  #owner(wallet: Address, origin: string) {
    const { chainId, pool } = this.#parts.config;
    return { deployment: `${chainId}:${pool}`, wallet, origin };
  }
}

/** @throws ServiceError PREPAID_SCHEDULE_INVALID */
function decode(body: unknown): SignedSchedule {
  try {
    return decodeSignedSchedule(body);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new ServiceError("PREPAID_SCHEDULE_INVALID", cause.message, {}, { cause });
  }
}

/** @throws ServiceError CHAIN_UNAVAILABLE if a node's response is not an answer */
async function isSigned(signed: SignedSchedule, call: EthCall): Promise<boolean> {
  try {
    return await checkScheduleSignature(signed, call);
  } catch (cause) {
    if (!(cause instanceof SottoError) || cause.code !== "BINDING_UNCHECKED") throw cause;
    throw new ServiceError("CHAIN_UNAVAILABLE", "no node of the chain responds; try again", {}, { cause });
  }
}

const exceeded = ({ quota, resetAt }: Exceeded): ServiceError => quotaExceeded(quota, resetAt);

export interface MirrorSetup extends Omit<MirrorParts, "config" | "contracts"> {
  readonly config: MirrorParts["config"] & Pick<Config, "rpcUrls" | "rpcTimeoutMs">;
  readonly log: ServiceLog;
  readonly clock: () => number;
}

/** Opens the mirror with nodes of its own: see `openSignatureChain`. */
export function openPrepaidMirror({ log, clock, ...parts }: MirrorSetup): PrepaidMirror {
  const { chainId, rpcUrls: urls, rpcTimeoutMs: timeoutMs, prepaidClientQuota: perHour } = parts.config;
  const chain = openSignatureChain({ urls, chainId: BigInt(chainId), timeoutMs, log, clock });
  return new PrepaidMirror({ ...parts, contracts: new ContractChecks({ call: chainCall(chain), perHour, clock }) });
}
