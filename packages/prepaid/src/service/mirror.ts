// A mirror of what merchants sign. It keeps the first key that a wallet signed for each origin, value and epoch, and the first
// rule and receipt key for each origin, route and epoch, so that a merchant cannot show each payer its own. It sends no request
// to an origin.
import type { ContractChecks } from "@sotto/phone-registry";
import { type Address, type EthCall, SottoError } from "@sotto/protocol";
import { codeOf, type Exceeded, type ServicePlace, type ServiceQuotas } from "@sotto/server";
import { MAX_MIRRORED, type PrepaidMerchant } from "../core/merchant.ts";
import {
  decodeSignedTerms,
  encodeSignedTerms,
  type SignedMeteredTerms,
  verifyTermsSignature,
} from "../core/metered/signed-terms.ts";
import { meteredEpochs, meteredTermsDigest, type TermsConflict, termsConflict } from "../core/metered/terms.ts";
import { scheduleDigest, scheduledKeys } from "../core/schedule.ts";
import { decodeSignedSchedule, encodeSignedSchedule, verifyScheduleSignature } from "../core/signed-schedule.ts";
import { prepaidChallengeDigest } from "../core/token.ts";
import { MirrorError } from "./errors.ts";
import type { Kept, Schedules } from "./store.ts";
import type { TermsStore } from "./terms-store.ts";

const DAY_MS = 86_400_000;

export interface MirrorParts {
  readonly place: Pick<ServicePlace, "chainId" | "pool">;
  readonly limits: {
    /** Pushes of a network a day. */
    readonly client: number;
    /** New schedules and terms a day. */
    readonly all: number;
  };
  readonly schedules: Schedules;
  readonly terms: TermsStore;
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

/** Whether pushed terms are new. */
export interface TermsResult {
  readonly accepted: boolean;
}

/** Checks a wallet's signature. */
type Verify = (call: EthCall) => Promise<boolean>;

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
  pushSchedule(body: unknown, client: string): Promise<PushResult> {
    return this.#counted(client, async () => {
      const signed = decoded("PREPAID_SCHEDULE_INVALID", () => decodeSignedSchedule(body));
      const { schedule } = signed;
      await this.#assertSigned("PrepaidSchedule", schedule, client, (call) => verifyScheduleSignature(signed, call));
      const kept = await this.#parts.schedules.keep(
        {
          ...this.#owner(schedule.wallet, schedule.origin),
          digest: scheduleDigest(schedule),
          content: JSON.stringify(encodeSignedSchedule(signed)),
          keys: scheduledKeys(schedule).map(({ epoch, value, key }) => ({ epoch, value: String(value), id: key.id })),
        },
        { perOwner: MAX_MIRRORED, quotas: this.#newAllowed() },
      );
      if (kept.kind === "exceeded") throw this.#refusal(kept);
      if (kept.kind === "full")
        throw new MirrorError(
          "PREPAID_SCHEDULES_FULL",
          `this service keeps ${MAX_MIRRORED} schedules of this wallet and origin, and no more`,
        );
      if (kept.kind === "conflict")
        throw new MirrorError(
          "PREPAID_SCHEDULE_CONFLICT",
          `this service keeps another key for the value ${kept.key.value} in ${kept.key.epoch}, or this key for another value or epoch; nothing of the schedule was kept`,
        );
      return { accepted: kept.accepted, known: kept.known };
    });
  }

  /**
   * Keeps signed terms, unless they contradict those that it keeps.
   * @param client the id under which quotas count the client
   * @throws MirrorError PREPAID_TERMS_INVALID, WRONG_DEPLOYMENT, PREPAID_SIGNATURE_INVALID, PREPAID_TERMS_CONTRADICTED,
   *   PREPAID_TERMS_FULL; PhoneError CONTRACT_CHECKS_LIMITED, CHAIN_UNAVAILABLE; the service's QUOTA_EXCEEDED
   */
  pushTerms(body: unknown, client: string): Promise<TermsResult> {
    return this.#counted(client, async () => {
      const signed = decoded("PREPAID_TERMS_INVALID", () => decodeSignedTerms(body));
      const { terms } = signed;
      await this.#assertSigned("MeteredTerms", terms, client, (call) => verifyTermsSignature(signed, call));
      const epochs = meteredEpochs(terms);
      const kept = await this.#parts.terms.keep(
        {
          ...this.#owner(terms.wallet, terms.origin),
          digest: meteredTermsDigest(terms),
          content: JSON.stringify(encodeSignedTerms(signed)),
          epochs: [epochs[0]!, epochs.at(-1)!],
        },
        {
          perOwner: MAX_MIRRORED,
          quotas: this.#newAllowed(),
          conflict: (content) => termsConflict(storedTerms(content).terms, terms),
        },
      );
      if (kept.kind === "exceeded") throw this.#refusal(kept);
      if (kept.kind === "full")
        throw new MirrorError(
          "PREPAID_TERMS_FULL",
          `this service lists ${MAX_MIRRORED} terms of this wallet and origin, or keeps so many that share a month with these; it takes no more`,
        );
      if (kept.kind === "conflict")
        throw new MirrorError(
          "PREPAID_TERMS_CONTRADICTED",
          `this service keeps terms with another ${differing(kept.conflict)} in ${kept.conflict.epoch}; these terms were not kept`,
        );
      return { accepted: kept.kind === "kept" };
    });
  }

  /** Limits a client's pushes, and counts each by its result. */
  async #counted<Result extends PushResult | TermsResult>(
    client: string,
    push: () => Promise<Result>,
  ): Promise<Result> {
    const { pushed, quotas, limits } = this.#parts;
    try {
      // First, because decoding a statement takes milliseconds.
      const over = await quotas.takeAll(quotas.ofNetworks("prepaid-client", client, limits.client));
      if (over !== undefined)
        throw quotas.refusal(over, "pushed prepaid schedules and metered terms a day for one network");
      const result = await push();
      pushed(result.accepted ? "accepted" : "known");
      return result;
    } catch (error) {
      pushed(codeOf(error, "INTERNAL"));
      throw error;
    }
  }

  async #assertSigned(struct: string, merchant: PrepaidMerchant, client: string, verify: Verify): Promise<void> {
    const { place, contracts } = this.#parts;
    if (merchant.chainId !== BigInt(place.chainId) || merchant.pool !== place.pool)
      throw new MirrorError(
        "WRONG_DEPLOYMENT",
        `${struct} is for another deployment: expected chainId ${place.chainId} and pool ${place.pool}`,
      );
    if (!(await contracts.run(client, (call) => isSigned(verify, call))))
      throw new MirrorError(
        "PREPAID_SIGNATURE_INVALID",
        `the signature is not ${merchant.wallet}'s over the EIP-712 struct ${struct} with these fields`,
      );
  }

  #newAllowed() {
    return [{ key: "prepaid:all", limit: this.#parts.limits.all, window: DAY_MS }];
  }

  #refusal(exceeded: Exceeded) {
    return this.#parts.quotas.refusal(exceeded, "new prepaid schedules and metered terms a day");
  }

  /**
   * The schedules of a wallet for an origin, the oldest first, as JSON.
   * @throws SottoError INVALID_STRING
   */
  async listSchedules(wallet: Address, origin: string): Promise<string> {
    return jsonOf(await this.#parts.schedules.list(this.#askedOwner(wallet, origin)));
  }

  /**
   * The terms of a wallet for an origin, the oldest first, as JSON. Those of months whose tokens have ended are not listed.
   * @throws SottoError INVALID_STRING
   */
  async listTerms(wallet: Address, origin: string): Promise<string> {
    return jsonOf(await this.#parts.terms.list(this.#askedOwner(wallet, origin)));
  }

  #askedOwner(wallet: Address, origin: string) {
    // Rejects texts that are not an origin: a database may not store every text.
    prepaidChallengeDigest(origin);
    return this.#owner(wallet, origin);
  }

  #owner(wallet: Address, origin: string) {
    const { chainId, pool } = this.#parts.place;
    return { deployment: `${chainId}:${pool}`, wallet, origin };
  }
}

/** A list may have several megabytes, so its entries are never parsed. */
const jsonOf = (kept: readonly Kept[]): string =>
  `[${kept.map(({ content, receivedAt }) => `${content.slice(0, -1)},"receivedAt":${Math.floor(receivedAt / 1000)}}`).join(",")}]`;

const storedTerms = (content: string): SignedMeteredTerms => decodeSignedTerms(JSON.parse(content));

const differing = ({ routes }: TermsConflict): string =>
  routes === undefined ? "receipt key" : `rule for ${routes[1].method} ${routes[1].path}`;

/** @throws MirrorError with the code */
function decoded<Signed>(code: "PREPAID_SCHEDULE_INVALID" | "PREPAID_TERMS_INVALID", decode: () => Signed): Signed {
  try {
    return decode();
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new MirrorError(code, cause.message, {}, { cause });
  }
}

/** @throws MirrorError CHAIN_UNAVAILABLE if a node's response is not an answer */
async function isSigned(verify: Verify, call: EthCall): Promise<boolean> {
  try {
    return await verify(call);
  } catch (cause) {
    if (!(cause instanceof SottoError) || cause.code !== "BINDING_UNCHECKED") throw cause;
    throw new MirrorError("CHAIN_UNAVAILABLE", "no node of the chain responds; try again", {}, { cause });
  }
}
