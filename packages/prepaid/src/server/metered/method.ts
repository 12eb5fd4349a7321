// Metered credit, as a method of a paywall: a token pays for at most the cap, and its change is claimed afterwards.
import type { Address, EthCall } from "@sotto/protocol";
import {
  CheckFailed,
  type Decision,
  type FixedQuote,
  invalidOption,
  type Meter,
  type Offer,
  type OfferTerms,
  type OpenMethod,
  type PaymentMethod,
  type PaywallCore,
  type PaywallRequest,
  type PoolToken,
  type RequestTerms,
} from "@sotto/resource-server";
import { assertMethod, assertTarget } from "../../core/metered/route.ts";
import {
  changeEpochAt,
  encodeMeteredOffer,
  encodeMeteredRule,
  epochOf,
  formatChargeHeader,
  METERED_CHARGE_HEADER,
  METERED_RULE_HEADER,
  type MeteredRule,
  meteredEpochs,
  meteredRuleHash,
  meteredTermsDigest,
  meteredValues,
  PREPAID_CHANGE_PATH,
  PREPAID_HEADER,
  PREPAID_SWAP_PATH,
  PREPAID_TERMS_PATH,
  ruleOfRequest,
  type SignedMeteredTerms,
  verifyTermsSignature,
} from "../../index.ts";
import { PrepaidServerError } from "../errors.ts";
import type { Key } from "../keyring.ts";
import { latestPrepaid, openedPrepaid, parseToken } from "../method.ts";
import type { Prepaid } from "../prepaid.ts";
import type { MeteredTotals } from "./audit.ts";
import { Charges } from "./charges.ts";
import { Claims } from "./claims.ts";
import { assertMeteredQuote, type MeteredConfig, type MeteredOptions, parseMetered } from "./config.ts";
import { type Desk, MeteredEndpoints } from "./endpoints.ts";
import { ruleOfQuote } from "./price.ts";
import type { MeteredSpend } from "./store.ts";
import { Swaps } from "./swaps.ts";

declare module "@sotto/resource-server" {
  interface PaymentKinds {
    readonly metered: PaidMetered;
  }

  interface PaywallEventNames {
    /** The charge of a request is final. */
    readonly charged: true;
    /** Change was signed. */
    readonly claimed: true;
    /** Tokens were swapped for fewer ones. */
    readonly swapped: true;
  }

  interface PaywallEvent {
    /** charged and claimed: what the request cost, base units. */
    readonly charge?: bigint;
  }
}

/** A prepaid token that pays for a request of a metered route. */
export interface PaidMetered {
  /** The request is paid with a prepaid token, which gets change. */
  readonly kind: "metered";
  /** Identifies the token: make side effects idempotent by it. */
  readonly id: string;
  /** The token's value, which is the cap, base units. */
  readonly amount: bigint;
  /** Id of the key that signed the token, hex with 0x. */
  readonly key: string;
  /** Hash of the rule that the payer agreed to, hex with 0x. */
  readonly rule: string;
  /** The URL that was paid for, on the configured origin. */
  readonly resource: string;
  /** The recipient's wallet. */
  readonly wallet: Address;
  /** Counts what the request uses. */
  readonly meter: Meter;
}

const RULE = METERED_RULE_HEADER.toLowerCase();
const CHARGE = METERED_CHARGE_HEADER.toLowerCase();
const TOKEN = PREPAID_HEADER.toLowerCase();

/** Metered credit, for the option `methods` of a paywall. */
export interface MeteredMethod extends PaymentMethod {
  /**
   * What became of the tokens of metered requests, for metrics; 0 while no paywall has opened the method. It counts rows: call it
   * once a minute rather than for every request. @throws DatabaseError
   */
  totals(): Promise<MeteredTotals>;
}

const NOTHING: MeteredTotals = { charged: 0n, changeSigned: 0n, changeClaimable: 0n, running: 0n, swapped: 0n };

/**
 * Charges the requests of metered routes from prepaid tokens, and gives change that nobody can link to them.
 *
 *     const tokens = prepaid({ keys: "keys.json", schedules: ["schedule.signed.json"] });
 *     const credit = meteredCredit({ prepaid: tokens, terms: ["terms.signed.json"], receiptKeys: "receipts.json" });
 *     sotto({ ...options, methods: [tokens, credit] });
 */
export function meteredCredit(options: MeteredOptions): MeteredMethod {
  return {
    name: "metered",
    headers: [{ name: METERED_RULE_HEADER }],
    paths: [
      { method: "GET", path: PREPAID_TERMS_PATH },
      { method: "POST", path: PREPAID_CHANGE_PATH },
      { method: "POST", path: PREPAID_SWAP_PATH },
    ],
    open(core) {
      const { origin, wallet, deployment } = core;
      const config = parseMetered(options, { origin, wallet, deployment });
      const prepaid = openedPrepaid(options.prepaid, core);
      if (prepaid === undefined)
        throw invalidOption(
          "metered.prepaid must be the method of prepaid tokens that comes before this one in methods",
        );
      return new OpenMetered(core, prepaid, config);
    },
    totals: async () => (await latestPrepaid(options.prepaid)?.meteredTotals()) ?? NOTHING,
  };
}

class OpenMetered implements OpenMethod {
  readonly #core: PaywallCore;
  readonly #prepaid: Prepaid;
  readonly #config: MeteredConfig;
  readonly #charges: Charges;
  readonly #desk: Desk | undefined;
  readonly #endpoints: MeteredEndpoints;

  constructor(core: PaywallCore, prepaid: Prepaid, config: MeteredConfig) {
    const { report } = core;
    this.#core = core;
    this.#prepaid = prepaid;
    this.#config = config;
    this.#charges = new Charges(prepaid.redemption, (error) => report({ event: "trouble", reason: "STORE", error }));
    this.#desk = this.#createDesk();
    // Stores what still runs. The tokens' store is closed after that.
    prepaid.beforeClose(() => this.#charges.close());
    this.#endpoints = new MeteredEndpoints(core, config.terms, this.#desk);
  }

  /** @throws PaywallError INVALID_OPTION if this server signs without a guard */
  #createDesk(): Desk | undefined {
    const { secrets } = this.#config;
    const [core, prepaid, charges] = [this.#core, this.#prepaid, this.#charges];
    if (secrets === undefined || !prepaid.keyring.all.some((key) => key.privateKey !== undefined)) return undefined;
    if (!prepaid.hasGuard)
      throw invalidOption(
        "prepaid.guard must be the path of a file: a server that signs change must notice a store that was restored",
      );
    return {
      claims: new Claims({
        ...{ core, prepaid, charges, secrets },
        onClaimed: (key, charge, count) =>
          core.report({ event: "claimed", key: key.id, value: key.value, charge, count }),
      }),
      swaps: new Swaps({
        ...{ core, prepaid },
        onSwapped: (key, count) => core.report({ event: "swapped", key: key.id, value: key.value, count }),
      }),
    };
  }

  /** @throws PrepaidServerError METERED_TERMS_NOT_SIGNED; SottoError BINDING_UNCHECKED */
  async assertSigned(call: EthCall): Promise<void> {
    for (const [i, signed] of this.#config.terms.entries())
      if (!(await verifyTermsSignature(signed, call)))
        throw new PrepaidServerError(
          "METERED_TERMS_NOT_SIGNED",
          `metered.terms[${i}].signature is not the recipient wallet's signature of these terms`,
        );
  }

  /** @throws PaywallError INVALID_OPTION if it is a metered price without terms or keys */
  assertQuote(quote: FixedQuote, token: PoolToken): void {
    const rule = ruleOfQuote(quote.quote, token.decimals);
    if (rule === undefined) return;
    const [{ terms }, { keyring }] = [this.#config, this.#prepaid];
    assertMeteredQuote(quote, rule, epochOf(this.#core.clock()), { terms, keyring });
  }

  answer(request: PaywallRequest): Promise<Decision> {
    return this.#endpoints.answer(request);
  }

  /** Says which token pays for at most the cap, and what is charged. */
  offer({ quote, token, method, target }: OfferTerms): Offer | undefined {
    const rule = ruleOfQuote(quote, token.decimals);
    if (rule === undefined) return undefined;
    const now = this.#core.clock();
    const terms = this.#termsOf(rule, method, target.target, now);
    const key = this.#prepaid.keyring.offered(rule.cap, now);
    if (terms === undefined || key === undefined) return undefined;
    const payment = encodeMeteredOffer({
      cap: rule.cap,
      rule: meteredRuleHash(rule),
      tokenKeyId: key.id,
      terms: meteredTermsDigest(terms.terms),
    });
    return { payment };
  }

  async decide(request: PaywallRequest, terms: RequestTerms): Promise<Decision | undefined> {
    const rule = ruleOfQuote(terms.quote, terms.token.decimals);
    const values = request.header(TOKEN);
    if (rule === undefined || values.length === 0) return undefined;
    const { report, clock, paid, wallet } = this.#core;
    const began = clock();
    const shown = parseToken(values);
    const { method, target } = request;
    const hash = meteredRuleHash(rule);
    const agreed = request.header(RULE);
    if (agreed.length !== 1 || agreed[0] !== hash) throw new CheckFailed("METERED_RULE");
    if (this.#termsOf(rule, method, target, began) === undefined) throw new CheckFailed("METERED_TERMS");
    const { redemption } = this.#prepaid;
    const use = { method, target, price: rule.cap };
    const beganAt = performance.now();
    const spent = await redemption.redeemMetered(shown, use, (key) => this.#spendOf(rule, key, request, began));
    const { id, key } = spent;
    report({ event: "redeemed", key: key.id, value: rule.cap, ms: clock() - began });
    const { meter, finish, ended, finalCharge } = this.#charges.start({
      ...spent,
      rule,
      durationMs: this.#config.durationMs,
      beganAt,
      onCharged: (charge) => report({ event: "charged", key: key.id, value: rule.cap, charge }),
    });
    const payment = {
      kind: "metered",
      id,
      amount: rule.cap,
      key: key.id,
      rule: hash,
      resource: terms.resource,
    } as const;
    const decision = paid({ ...payment, wallet, meter }, finish, ended);
    if (decision.kind !== "paid") return decision;
    const { "access-control-expose-headers": exposed } = decision.headers;
    return {
      ...decision,
      headers: { ...decision.headers, "access-control-expose-headers": `${exposed}, ${METERED_CHARGE_HEADER}` },
      finalHeaders: (status) => ({ [CHARGE]: formatChargeHeader(finalCharge(status)) }),
    };
  }

  /** What is stored with a token. @throws CheckFailed if its change could not be signed, or the request cannot be named */
  #spendOf(rule: MeteredRule, key: Key, { method, target }: PaywallRequest, now: number): MeteredSpend {
    const changeEpoch = changeEpochAt(key.epoch, now);
    const { keyring } = this.#prepaid;
    if (!meteredValues(rule).every((value) => keyring.at(value, changeEpoch) !== undefined))
      throw new CheckFailed("METERED_KEYS");
    return {
      ...{ cap: String(rule.cap), rule: JSON.stringify(encodeMeteredRule(rule)), method, target },
      ...{ epoch: epochOf(now), changeEpoch, durationMs: this.#config.durationMs },
    };
  }

  /** The terms of the current month that list a request with this rule. */
  #termsOf(rule: MeteredRule, method: string, target: string, now: number): SignedMeteredTerms | undefined {
    const epoch = epochOf(now);
    // A paywall's routes for GET include HEAD.
    const request = { method: method === "HEAD" ? "GET" : method, target };
    if (!isNamed(request)) return undefined;
    const hash = meteredRuleHash(rule);
    return this.#config.terms.find(({ terms }) => {
      const found = meteredEpochs(terms).includes(epoch) ? ruleOfRequest(terms, request) : undefined;
      return found !== undefined && meteredRuleHash(found) === hash;
    });
  }
}

/** Whether a receipt can name a request. */
function isNamed({ method, target }: { readonly method: string; readonly target: string }): boolean {
  try {
    assertMethod(method);
    assertTarget(target);
    return true;
  } catch {
    return false;
  }
}
