// Prepaid tokens, as a method of a paywall.

import type { Address, EthCall } from "@sotto/protocol";
import {
  type Asked,
  type Decision,
  type Offer,
  type OfferTerms,
  type OpenMethod,
  type PaymentMethod,
  type PaywallCore,
  type PaywallRequest,
  Refusal,
  type RequestTerms,
  refused,
} from "@sotto/resource-server";
import {
  PREPAID_HEADER,
  PREPAID_KEYS_PATH,
  PREPAID_PATH,
  PREPAID_RECOVER_PATH,
  verifyScheduleSignature,
} from "../index.ts";
import { parsePrepaid } from "./config.ts";
import { PrepaidEndpoints } from "./endpoints.ts";
import { PrepaidServerError } from "./errors.ts";
import type { PrepaidOptions } from "./options.ts";
import { Prepaid, type PrepaidTotals } from "./prepaid.ts";
import { readToken, type ShownToken } from "./shown-token.ts";

declare module "@sotto/resource-server" {
  interface PaymentKinds {
    readonly prepaid: PaidToken;
  }

  interface PaywallEventNames {
    /** A token paid for a request. */
    readonly redeemed: true;
    /** A pack was sold. */
    readonly issued: true;
    /** A pack that was paid for was signed again. */
    readonly recovered: true;
  }

  interface PaywallEvent {
    /** redeemed, issued and recovered: id of the prepaid key. */
    readonly key?: string;
    /** redeemed, issued and recovered: value of one token, base units. */
    readonly value?: bigint;
    /** issued and recovered: number of tokens. */
    readonly count?: number;
  }
}

/** A prepaid token that paid for a request. */
export interface PaidToken {
  /** The request was paid with a prepaid token. */
  readonly kind: "prepaid";
  /** Identifies the token: make side effects idempotent by it. */
  readonly id: string;
  /** The token's value, which is the price, base units. */
  readonly amount: bigint;
  /** Id of the key that signed the token, hex with 0x. */
  readonly key: string;
  /** The URL that was paid for, on the configured origin. */
  readonly resource: string;
  /** The recipient's wallet. */
  readonly wallet: Address;
}

/** Prepaid tokens, for the option `methods` of a paywall. */
export interface PrepaidMethod extends PaymentMethod {
  /** Sold and redeemed tokens by key; empty while no paywall has opened the method. It counts rows. @throws DatabaseError */
  totals(): Promise<readonly PrepaidTotals[]>;
}

/** Hooks of tests. */
export interface PrepaidHooks {
  /** Called after each query with its text. */
  readonly onQuery?: (query: string) => void;
  readonly onOpen?: (prepaid: Prepaid) => void;
}

/**
 * Sells and accepts prepaid tokens.
 *
 *     sotto({ ...options, methods: [prepaid({ keys: "keys.json", schedules: ["schedule.signed.json"] })] });
 *
 * A token that paid for a request is spent before the handler runs. A status of 500 or above and "unstarted" return it,
 * twice at most.
 */
export const prepaid = (options: PrepaidOptions): PrepaidMethod => createPrepaid(options);

export function createPrepaid(options: PrepaidOptions, { onQuery, onOpen }: PrepaidHooks = {}): PrepaidMethod {
  const opened = new Set<Prepaid>();
  const byCore = new WeakMap<PaywallCore, Prepaid>();
  const method: PrepaidMethod = {
    name: "prepaid",
    headers: [{ name: PREPAID_HEADER }],
    paths: [
      { method: "GET", path: PREPAID_KEYS_PATH },
      { method: "POST", path: PREPAID_PATH },
      { method: "POST", path: PREPAID_RECOVER_PATH },
    ],
    async open(core) {
      const { origin, deployment, storeUrl, report } = core;
      const config = parsePrepaid(options, { origin, wallet: core.wallet, deployment, storeUrl });
      const one = await Prepaid.open({
        config,
        clock: () => core.clock(),
        onError: (error) => report({ event: "trouble", reason: "STORE", error }),
        onRestored: (error) => report({ event: "trouble", reason: "PREPAID_STORE_RESTORED", error }),
        onQuery,
      });
      opened.add(one);
      byCore.set(core, one);
      onOpen?.(one);
      return new OpenPrepaid(core, one, () => opened.delete(one));
    },
    totals: async () => (await latestPrepaid(method)?.totals()) ?? [],
  };
  openedBy.set(method, { opened, byCore });
  return method;
}

const HEADER = PREPAID_HEADER.toLowerCase();
/** What a method has opened: all that is not closed, and the part of each paywall. */
interface Opened {
  readonly opened: ReadonlySet<Prepaid>;
  readonly byCore: WeakMap<PaywallCore, Prepaid>;
}

const openedBy = new WeakMap<PrepaidMethod, Opened>();

/** The tokens that a method has opened for this paywall. */
export const openedPrepaid = (method: PrepaidMethod, core: PaywallCore): Prepaid | undefined =>
  openedBy.get(method)?.byCore.get(core);

/** Those that a method has opened last: all of them share one store. */
export const latestPrepaid = (method: PrepaidMethod): Prepaid | undefined =>
  [...(openedBy.get(method)?.opened ?? [])].at(-1);

class OpenPrepaid implements OpenMethod {
  readonly #core: PaywallCore;
  readonly #prepaid: Prepaid;
  readonly #endpoints: PrepaidEndpoints;
  readonly #onClose: () => void;

  constructor(core: PaywallCore, prepaid: Prepaid, onClose: () => void) {
    this.#core = core;
    this.#prepaid = prepaid;
    this.#endpoints = new PrepaidEndpoints({ core, prepaid });
    this.#onClose = onClose;
  }

  /** @throws PrepaidServerError PREPAID_SCHEDULE_NOT_SIGNED; SottoError BINDING_UNCHECKED */
  async assertSigned(call: EthCall): Promise<void> {
    for (const [i, signed] of this.#prepaid.schedules.entries())
      if (!(await verifyScheduleSignature(signed, call)))
        throw new PrepaidServerError(
          "PREPAID_SCHEDULE_NOT_SIGNED",
          `prepaid.schedules[${i}].signature is not the recipient wallet's signature of this schedule`,
        );
  }

  answer(request: PaywallRequest, asked: Asked): Promise<Decision> {
    return this.#endpoints.answer(request, asked);
  }

  /** Says which key signs tokens of this price now. */
  offer({ price, quote }: OfferTerms): Offer | undefined {
    // A token pays exact prices only.
    if (quote !== undefined) return undefined;
    const key = this.#prepaid.keyring.offered(price, this.#core.clock());
    return key === undefined ? undefined : { payment: { tokenKeyId: key.id, value: String(price) } };
  }

  async decide(request: PaywallRequest, { price, quote, resource }: RequestTerms): Promise<Decision | undefined> {
    const values = request.header(HEADER);
    if (values.length === 0 || quote !== undefined) return undefined;
    const { clock, report, paid, wallet } = this.#core;
    const began = clock();
    const shown = parseToken(values);
    const { method, target } = request;
    const { id, key, finish } = await this.#prepaid.redemption.redeem(shown, { method, target, price });
    report({ event: "redeemed", key: key.id, value: price, ms: clock() - began });
    return paid({ kind: "prepaid", id, amount: price, key: key.id, resource, wallet }, finish);
  }

  async close(): Promise<void> {
    this.#onClose();
    await this.#prepaid.close();
  }
}

/** Reads the header of a token. @throws Refusal with the status 400 */
export function parseToken([header = "", ...others]: readonly string[]): ShownToken {
  if (others.length > 0) return malformed(`the header was sent ${others.length + 1} times`);
  return readToken(header) ?? malformed("a prepaid token must be 472 characters of base64url, and of type 2");
}

function malformed(message: string): never {
  throw new Refusal(refused(400, { error: "Invalid payment token format", message }));
}
