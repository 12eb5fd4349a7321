import { abortable, signatureCall } from "@sotto/chain";
import { type Challenge, FetchError, type PayingCore, type PayingWallet } from "@sotto/client";
import { type MessagePart, message, SottoError } from "@sotto/protocol";
import {
  decodeMeteredOffer,
  decodeSignedTerms,
  encodeSignedTerms,
  epochOf,
  laterEpoch,
  MAX_SIGNED_TERMS_BYTES,
  MAX_TERMS_ANSWER_BYTES,
  type MeteredOffer,
  type MeteredRule,
  meteredEpochs,
  meteredRuleHash,
  meteredTermsDigest,
  PREPAID_TERMS_PATH,
  parseTermsAnswer,
  ruleOfRequest,
  type SignedMeteredTerms,
  verifyTermsSignature,
} from "../../index.ts";
import { ask, saidIn } from "../ask.ts";
import type { PrepaidBook } from "../book.ts";
import { PrepaidError } from "../errors.ts";
import { type Comparison, compareWithMirrors } from "../mirrors.ts";
import type { PrepaidSettings } from "../options.ts";
import { pushTerms } from "../push.ts";
import type { ConflictingTerms } from "./book.ts";
import { monthsAround } from "./months.ts";

/** Maximum number of pinned terms of an origin for the last month and later ones. */
const MAX_PINNED = 24;
const TIMEOUT_MS = 30_000;

/**
 * What the 402 of a metered route says; undefined if the route is not metered.
 * @param price of a single payment, which is the cap
 * @throws FetchError CHALLENGE_INVALID
 */
export function offeredMeter({ offers, price }: Pick<Challenge, "offers" | "price">): MeteredOffer | undefined {
  if (!offers.has("metered")) return undefined;
  const invalid = (why: string, cause?: unknown) =>
    new FetchError("CHALLENGE_INVALID", `the 402 cannot be paid: its offer of metered credit: ${why}`, {}, { cause });
  try {
    const offer = decodeMeteredOffer(offers.get("metered"));
    if (offer.cap !== price) throw invalid("cap must be the price in base units");
    return offer;
  } catch (cause) {
    if (!(cause instanceof SottoError) || cause instanceof FetchError) throw cause;
    throw invalid(cause.message, cause);
  }
}

const refused = (origin: string, text: string | readonly MessagePart[], cause?: unknown) =>
  new PrepaidError("PREPAID_TERMS_REFUSED", text, { origin }, { cause });

/** A request as the rule of a route sees it. A HEAD costs as much as its GET. */
const pricedAs = (method: string): string => (method === "HEAD" ? "GET" : method);

/** The merchant of some terms. */
interface TermsOwner {
  readonly origin: string;
  readonly wallet: string;
}

/** The terms of merchants: fetched, checked, compared with mirrors, and pinned. */
export class Terms {
  readonly #wallet: PayingWallet;
  readonly #book: PrepaidBook;
  readonly #settings: PrepaidSettings;

  constructor({ wallet }: PayingCore, book: PrepaidBook, settings: PrepaidSettings) {
    this.#wallet = wallet;
    this.#book = book;
    this.#settings = settings;
  }

  /**
   * The rule that a request agrees to: it is in terms that the recipient's wallet signed for this month, and the 402 names both.
   * @throws PrepaidError PREPAID_TERMS_REFUSED, PREPAID_TERMS_CONFLICT, PREPAID_MIRROR_FAILED, PREPAID_UNREACHABLE
   */
  async agreed(
    { url, instructions }: Challenge,
    offer: MeteredOffer,
    method: string,
    signal: AbortSignal | undefined,
  ): Promise<MeteredRule> {
    const { origin } = url;
    const { wallet } = instructions.payment.recipient;
    const signed =
      this.#book.metered.termsOf(offer.terms) ?? (await this.#fetched({ origin, wallet }, offer.terms, signal));
    const { terms } = signed;
    if (terms.origin !== origin) throw refused(origin, `a 402 of ${origin} names terms of ${terms.origin}`);
    if (terms.wallet !== wallet) throw refused(origin, `the terms of ${origin} are of another wallet than its 402`);
    const now = this.#wallet.now();
    // Around midnight, the server's month may differ from this clock's.
    if (!monthsAround(now).some((month) => meteredEpochs(terms).includes(month)))
      throw refused(origin, `the terms of ${origin} are not for ${epochOf(now)}`);
    const rule = ruleOfRequest(terms, { method: pricedAs(method), target: url.pathname + url.search });
    if (rule === undefined || meteredRuleHash(rule) !== offer.rule || rule.cap !== offer.cap)
      throw refused(origin, `a 402 of ${origin} names another rule than its signed terms have for the request`);
    await this.#compare({ origin, wallet }, [signed], signal);
    return rule;
  }

  async #fetched(merchant: TermsOwner, digest: string, signal: AbortSignal | undefined): Promise<SignedMeteredTerms> {
    const { origin } = merchant;
    await this.refresh(merchant, signal);
    const found = this.#book.metered.termsOf(digest);
    if (found !== undefined) return found;
    throw refused(origin, `a 402 of ${origin} names terms that ${origin} does not show`);
  }

  /** Fetches, checks, compares and pins the terms of a merchant. Those of other wallets are ignored. @throws as `agreed` */
  async refresh({ origin, wallet }: TermsOwner, signal?: AbortSignal): Promise<void> {
    const name = `${origin}${PREPAID_TERMS_PATH}`;
    const limits = { name, maxBytes: MAX_TERMS_ANSWER_BYTES, timeoutMs: TIMEOUT_MS, signal };
    const answer = await ask(this.#settings.send, name, {}, limits);
    if (answer.status !== 200)
      throw refused(origin, message`${origin} shows no terms of its metered routes: ${saidIn(answer)}`);
    const all = parseTerms(origin, new TextDecoder().decode(answer.body));
    // A receipt may be of the month before, and of no earlier one.
    const month = laterEpoch(monthsAround(this.#wallet.now())[0], -1);
    const isCurrent = ({ terms }: SignedMeteredTerms) => meteredEpochs(terms).at(-1)! >= month;
    const found = all.filter((signed) => signed.terms.wallet === wallet && isCurrent(signed));
    for (const signed of found) {
      if (this.#book.metered.termsOf(meteredTermsDigest(signed.terms)) !== undefined) continue;
      if (!this.#isOfPool(signed) || signed.terms.origin !== origin)
        throw refused(origin, `terms of ${origin} are for another chain, pool or origin`);
      if (!(await this.#isSigned(signed, signal)))
        throw refused(origin, `terms of ${origin} are not signed by the wallet that they name`);
    }
    const current = [...this.#book.metered.terms(origin).filter(isCurrent), ...found];
    if (new Set(current.map(({ terms }) => meteredTermsDigest(terms))).size > MAX_PINNED)
      throw refused(origin, `${origin} shows more than ${MAX_PINNED} terms for ${month} and later months`);
    const own = this.#book.metered.contradiction(found);
    if (own !== undefined) throw await this.#stop(origin, own);
    await this.#compare({ origin, wallet }, found, signal);
    const conflict = await this.#book.metered.pin(found);
    if (conflict !== undefined) throw await this.#stop(origin, conflict);
  }

  /**
   * Compares terms of a merchant with the mirrors, each once.
   * @throws PrepaidError PREPAID_TERMS_CONFLICT, PREPAID_MIRROR_FAILED, PREPAID_UNREACHABLE
   */
  async #compare(
    merchant: TermsOwner,
    shown: readonly SignedMeteredTerms[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { send, mirrors } = this.#settings;
    const [book, wallet] = [this.#book, this.#wallet];
    // A mirror lists ended terms for one more month only.
    const [month] = monthsAround(wallet.now());
    const wanted = shown
      .map((signed) => ({
        ...signed,
        id: meteredTermsDigest(signed.terms),
        epoch: meteredEpochs(signed.terms).at(-1)!,
      }))
      .filter(({ epoch }) => epoch >= month);
    const comparisonOf = (news: readonly SignedMeteredTerms[]) => this.#comparison(merchant, news, signal);
    const conflict = await compareWithMirrors(book, wanted, comparisonOf, { mirrors, send, wallet, signal });
    if (conflict !== undefined) throw await this.#stop(merchant.origin, conflict);
  }

  /** How a mirror's terms are compared with those that a merchant shows. */
  #comparison(
    merchant: TermsOwner,
    shown: readonly SignedMeteredTerms[],
    signal: AbortSignal | undefined,
  ): Comparison<SignedMeteredTerms, ConflictingTerms> {
    const digests = new Set<string>(shown.map(({ terms }) => meteredTermsDigest(terms)));
    return {
      name: "terms",
      list: "terms",
      merchant,
      maxBytes: MAX_SIGNED_TERMS_BYTES,
      decode(entry) {
        const { terms, signature } = Object(entry) as Record<string, unknown>;
        return decodeSignedTerms({ terms, signature });
      },
      isOwn: async (signed) => {
        const { terms } = signed;
        const isOwn = terms.wallet === merchant.wallet && terms.origin === merchant.origin && this.#isOfPool(signed);
        return isOwn && (digests.has(meteredTermsDigest(terms)) || (await this.#isSigned(signed, signal)));
      },
      conflict: (kept) => this.#book.metered.contradiction([...shown, ...kept]),
      missing(kept) {
        const ids = new Set<string>(kept.map(({ terms }) => meteredTermsDigest(terms)));
        return shown.filter(({ terms }) => !ids.has(meteredTermsDigest(terms)));
      },
      push: (service, signed, options) => pushTerms(service, encodeSignedTerms(signed), options),
    };
  }

  #isOfPool({ terms }: SignedMeteredTerms): boolean {
    const { chainId, pool } = this.#wallet.pool;
    return terms.chainId === chainId && terms.pool === pool;
  }

  async #isSigned(signed: SignedMeteredTerms, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      return await verifyTermsSignature(signed, signatureCall(abortable(this.#wallet.chain, signal)));
    } catch (cause) {
      // An unreachable node is not the merchant's fault.
      if (cause instanceof SottoError && cause.code === "BINDING_SIGNATURE_INVALID") return false;
      throw cause;
    }
  }

  #stop(origin: string, { epoch, routes, first, second }: ConflictingTerms): Promise<PrepaidError> {
    const text =
      routes === undefined
        ? `${origin} signed two receipt keys for ${epoch}: it could deny the receipts of some payers`
        : `${origin} signed two rules for ${routes[0].method} ${routes[0].path} in ${epoch}: payers would pay different prices`;
    const terms = [first, second].map(encodeSignedTerms);
    return this.#book.stop(origin, { code: "PREPAID_TERMS_CONFLICT", message: text, terms }, this.#wallet.now());
  }
}

function parseTerms(origin: string, text: string): readonly SignedMeteredTerms[] {
  try {
    return parseTermsAnswer(text);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw refused(origin, message`${origin} answers with invalid terms: ${cause}`, cause);
  }
}
