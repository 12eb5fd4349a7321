// A mirror of prepaid keys. It keeps the first key that a wallet signed for each origin, value and epoch, so that a
// merchant cannot show each payer a key of its own. It sends no request to an origin.
import type { ContractChecks } from "@sotto/phone-registry";
import { type Address, type EthCall, SottoError } from "@sotto/protocol";
import type { ServicePlace, ServiceQuotas } from "@sotto/server";
import { scheduleDigest, scheduledKeys } from "../core/schedule.ts";
import {
  decodeSignedSchedule,
  encodeSignedSchedule,
  type SignedSchedule,
  verifyScheduleSignature,
} from "../core/signed-schedule.ts";
import { prepaidChallengeDigest } from "../core/token.ts";
import { MirrorError } from "./errors.ts";
import type { Schedules } from "./store.ts";

/** Maximum schedules of one wallet and origin: twelve years, with an added value each year. */
const MAX_SCHEDULES = 24;

const DAY_MS = 86_400_000;

export interface MirrorParts {
  readonly place: Pick<ServicePlace, "chainId" | "pool">;
  readonly limits: {
    /** Pushes of a network a day. */
    readonly client: number;
    /** New schedules a day. */
    readonly all: number;
  };
  readonly schedules: Schedules;
  readonly quotas: ServiceQuotas;
  /** Checks signatures of contract wallets. */
  readonly contracts: Pick<ContractChecks, "run">;
  /** Counts a push by its result: accepted, known, or the error's code. */
  pushed(result: string): void;
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
   * @throws MirrorError PREPAID_SCHEDULE_INVALID, WRONG_DEPLOYMENT, PREPAID_SIGNATURE_INVALID,
   *   PREPAID_SCHEDULE_CONFLICT, PREPAID_SCHEDULES_FULL; PhoneError CONTRACT_CHECKS_LIMITED, CHAIN_UNAVAILABLE; the service's
   *   QUOTA_EXCEEDED
   */
  async push(body: unknown, client: string): Promise<PushResult> {
    const { pushed } = this.#parts;
    try {
      const result = await this.#push(body, client);
      pushed(result.accepted > 0 ? "accepted" : "known");
      return result;
    } catch (error) {
      pushed(error instanceof SottoError ? error.code : "INTERNAL");
      throw error;
    }
  }

  async #push(body: unknown, client: string): Promise<PushResult> {
    const { place, limits, schedules, quotas, contracts } = this.#parts;
    // First, because decoding 144 keys takes milliseconds.
    const over = await quotas.takeAll(quotas.ofNetworks("prepaid-client", client, limits.client));
    if (over !== undefined) throw quotas.refusal(over, "pushed prepaid schedules a day for one network");
    const signed = decode(body);
    const { schedule } = signed;
    if (schedule.chainId !== BigInt(place.chainId) || schedule.pool !== place.pool)
      throw new MirrorError(
        "WRONG_DEPLOYMENT",
        `the schedule is for another deployment: expected chainId ${place.chainId} and pool ${place.pool}`,
      );
    if (!(await contracts.run(client, (call) => isSigned(signed, call))))
      throw new MirrorError(
        "PREPAID_SIGNATURE_INVALID",
        `the signature is not ${schedule.wallet}'s over the EIP-712 struct PrepaidSchedule with these fields`,
      );
    const kept = await schedules.keep(
      {
        ...this.#owner(schedule.wallet, schedule.origin),
        digest: scheduleDigest(schedule),
        content: JSON.stringify(encodeSignedSchedule(signed)),
        keys: scheduledKeys(schedule).map(({ epoch, value, key }) => ({ epoch, value: String(value), id: key.id })),
      },
      { perOwner: MAX_SCHEDULES, quotas: [{ key: "prepaid:all", limit: limits.all, window: DAY_MS }] },
    );
    if (kept.kind === "exceeded") throw quotas.refusal(kept, "new prepaid schedules a day");
    if (kept.kind === "full")
      throw new MirrorError(
        "PREPAID_SCHEDULES_FULL",
        `this service keeps ${MAX_SCHEDULES} schedules of this wallet and origin, and no more`,
      );
    if (kept.kind === "conflict")
      throw new MirrorError(
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
    const kept = await this.#parts.schedules.list(this.#owner(wallet, origin));
    const entries = kept.map(
      ({ content, receivedAt }) => `${content.slice(0, -1)},"receivedAt":${Math.floor(receivedAt / 1000)}}`,
    );
    return `[${entries.join(",")}]`;
  }

  #owner(wallet: Address, origin: string) {
    const { chainId, pool } = this.#parts.place;
    return { deployment: `${chainId}:${pool}`, wallet, origin };
  }
}

/** @throws MirrorError PREPAID_SCHEDULE_INVALID */
function decode(body: unknown): SignedSchedule {
  try {
    return decodeSignedSchedule(body);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new MirrorError("PREPAID_SCHEDULE_INVALID", cause.message, {}, { cause });
  }
}

/** @throws MirrorError CHAIN_UNAVAILABLE if a node's response is not an answer */
async function isSigned(signed: SignedSchedule, call: EthCall): Promise<boolean> {
  try {
    return await verifyScheduleSignature(signed, call);
  } catch (cause) {
    if (!(cause instanceof SottoError) || cause.code !== "BINDING_UNCHECKED") throw cause;
    throw new MirrorError("CHAIN_UNAVAILABLE", "no node of the chain responds; try again", {}, { cause });
  }
}
