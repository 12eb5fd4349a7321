import type { PayingCore, PayingWallet } from "@sotto/client";
import { type MessagePart, message, SottoError } from "@sotto/protocol";
import { isSameMerchant } from "../../core/merchant.ts";
import {
  type ChangeAnswer,
  type ChangeRequest,
  changeClaimOf,
  changeOf,
  contradictions,
  encodeSignedTerms,
  formatChangeRequest,
  formatReceipt,
  laterEpoch,
  MAX_METERED_BODY_BYTES,
  type MeteredRule,
  meteredEpochs,
  nonceOfTokenSecret,
  PREPAID_CHANGE_PATH,
  parseChangeAnswer,
  parseChargeHeader,
  parseReceipt,
  type SignedMeteredTerms,
  type SignedReceipt,
  signChangeClaim,
  tokenSecretOf,
} from "../../index.ts";
import { ask } from "../ask.ts";
import type { PrepaidBook } from "../book.ts";
import { PrepaidError } from "../errors.ts";
import type { ChargeEvent, PrepaidSettings } from "../options.ts";
import type { MeteredRecord, MeteredState, Proof, Stop, StopReason } from "../records.ts";
import { type Unsigned, unsignedOf } from "./answers.ts";
import type { ChangeKeys } from "./change-keys.ts";
import { isSignedReceipt, otherRequest, wrongCharge } from "./check-receipt.ts";
import { changeMonths, mayHaveEnded } from "./months.ts";
import { type NewTokens, newLabel, prepareTokens, type SignedPack } from "./new-tokens.ts";
import type { Terms } from "./terms.ts";

const TIMEOUT_MS = 30_000;

/** How a claim ended. */
export type Claimed =
  | {
      /** The charge is known, and the change is stored. */
      readonly kind: "done";
      readonly charge: ChargeEvent;
    }
  | {
      /** The claim can be repeated: nothing is lost. */
      readonly kind: "running" | "unknown" | "later";
      readonly waitMs: number | undefined;
      /** Why, if it is an error. */
      readonly error?: unknown;
    }
  | {
      /** The change is lost, or the merchant contradicts itself; there is no error if it is too late for change. */
      readonly kind: "lost";
      readonly error: PrepaidError | undefined;
    };

/** Sends a claim: with a batch for the change, and without one only for the receipt. */
type Ask = (wanted: Pick<ChangeRequest, "batch" | "charge">) => Promise<ChangeAnswer | Unsigned>;

/** Where the change of a request comes from, if its response has said the charge. */
export interface SaidCharge {
  readonly said: string;
  readonly change: NonNullable<MeteredRecord["change"]>;
}

/** A merchant's answer that ends prepaid tokens at its origin. */
class Refused extends Error {
  readonly reason: StopReason;

  constructor(code: Stop["code"], text: string, proof: Proof = {}) {
    super(text);
    this.reason = { code, message: text, ...proof };
  }
}

/** Claims the change of metered requests, one step after the other, each journaled before it is sent. */
export class Claims {
  readonly #wallet: PayingWallet;
  readonly #book: PrepaidBook;
  readonly #keys: ChangeKeys;
  readonly #terms: Terms;
  readonly #settings: PrepaidSettings;

  constructor(
    core: PayingCore,
    book: PrepaidBook,
    { keys, terms, settings }: { readonly keys: ChangeKeys; readonly terms: Terms; readonly settings: PrepaidSettings },
  ) {
    this.#wallet = core.wallet;
    this.#book = book;
    this.#keys = keys;
    this.#terms = terms;
    this.#settings = settings;
  }

  /**
   * Asks what was charged for a request, checks the answer, and claims its change. Calls for the same request share one claim.
   * @throws the errors of the store
   */
  claim(id: string): Promise<Claimed> {
    return this.#book.metered.once(id, () => this.#claim(id));
  }

  async #claim(id: string): Promise<Claimed> {
    const record = this.#book.metered.request(id);
    if (record === undefined || record.state === "refused") return { kind: "lost", error: undefined };
    const secret = tokenSecretOf(await this.#wallet.derive(record.label, 32), record.index);
    const token = { keyId: record.keyId, nonce: nonceOfTokenSecret(secret) };
    let asked: { readonly state: MeteredState; readonly at: number } | undefined;
    const claimed = await this.#run(record, (wanted) => {
      asked = { state: this.#book.metered.request(id)?.state ?? record.state, at: this.#wallet.now() };
      return this.#ask(record.origin, { ...token, secret }, wanted);
    });
    const open = this.#book.metered.request(id);
    // Most claims are answered at once. One that is not is a debt from now on, unless it was asked for before.
    if (asked !== undefined && open?.state === asked.state && open.askedAt === undefined)
      await this.#book.metered.update({ ...open, askedAt: asked.at });
    return claimed;
  }

  async #run(record: MeteredRecord, ask: Ask): Promise<Claimed> {
    try {
      const agreed = record.state === "claimed" ? record : await this.#learnCharge(record, ask);
      if ("kind" in agreed) return agreed;
      return await this.#collect(agreed, ask);
    } catch (error) {
      if (error instanceof Refused) return this.#refuse(record.id, error);
      // A server, mirror or node that does not answer, and answers that nobody signed, are no evidence.
      if (error instanceof PrepaidError || (error instanceof SottoError && error.code === "BINDING_UNCHECKED"))
        return { kind: "later", waitMs: undefined, error };
      throw error;
    }
  }

  /**
   * What a claim needs to ask for receipt and change at once, which costs half as much. Undefined if the response does not say the charge,
   * nothing would be left of the token, or the month whose keys sign the change is not certain.
   * @param header the charge that the response says
   */
  said(record: MeteredRecord, header: string | null): SaidCharge | undefined {
    const [epoch, later] = monthsOfChange(record);
    const rule = this.#book.metered.rule(record.origin, record.rule);
    if (header === null || rule === undefined || epoch !== later) return undefined;
    try {
      const charge = parseChargeHeader(header);
      if (changeOf(rule, charge).length === 0) return undefined;
      return { said: String(charge), change: { label: newLabel().label, epoch } };
    } catch (error) {
      // Nobody signed the header, so it may be anything.
      if (error instanceof SottoError) return undefined;
      throw error;
    }
  }

  /** Receipt and change at once. The receipt counts: change of another charge is not asked for. */
  async #askForBoth(record: MeteredRecord, { said, change }: SaidCharge, ask: Ask): Promise<MeteredRecord | Claimed> {
    const charge = BigInt(said);
    const values = changeOf(this.#book.metered.rule(record.origin, record.rule)!, charge);
    const tokens = await this.#prepare(record, values, change).catch((error: unknown) => {
      if (!(error instanceof PrepaidError)) throw error;
      return undefined;
    });
    // The receipt needs no keys. The second step says why the change has to wait for them.
    if (tokens === undefined) return this.#askForReceipt(record, ask);
    const answer = await ask({ batch: tokens.batch, charge });
    if ("kind" in answer) {
      // A merchant that refuses the change may still sign the receipt. Older servers refuse claims that say a charge.
      const isFinal = ["other", "ended", "refused"].includes(answer.kind);
      return isFinal ? this.#askForReceipt(record, ask) : this.#withoutReceipt(record, answer);
    }
    if (answer.signatures === undefined) return this.#learned(record, answer);
    const { receipt } = answer;
    const rule = await this.#checked(record, receipt);
    this.#assertMonth(record, answer.epoch, receipt);
    if (answer.epoch !== change.epoch || changeOf(rule, receipt.receipt.charge).join() !== values.join())
      throw new Refused("PREPAID_CHANGE_REFUSED", `${record.origin} signed change that its receipt contradicts`, {
        receipts: [formatReceipt(receipt)],
      });
    const signed = await this.#finish(record, tokens, answer.signatures, receipt);
    return this.#done({ ...record, receipt: formatReceipt(receipt) }, receipt, signed);
  }

  /** The first step: the receipt, checked and stored with the source of the change. */
  #learnCharge(record: MeteredRecord, ask: Ask): Promise<MeteredRecord | Claimed> {
    const { said, change } = record;
    if (said === undefined || change === null) return this.#askForReceipt(record, ask);
    return this.#askForBoth(record, { said, change }, ask);
  }

  async #askForReceipt(record: MeteredRecord, ask: Ask): Promise<MeteredRecord | Claimed> {
    const answer = await ask({});
    return "kind" in answer ? this.#withoutReceipt(record, answer) : this.#learned(record, answer);
  }

  async #learned(record: MeteredRecord, { receipt, epoch }: ChangeAnswer): Promise<MeteredRecord> {
    const rule = await this.#checked(record, receipt);
    const change = changeOf(rule, receipt.receipt.charge);
    if (change.length > 0) this.#assertMonth(record, epoch, receipt);
    // The same batch again, which may be signed already, unless it was for another charge: a label is used for one batch.
    const isSaid = record.said === String(receipt.receipt.charge) && record.change?.epoch === epoch;
    const label = isSaid ? record.change!.label : newLabel().label;
    const source = change.length === 0 ? null : { label, epoch };
    const claimed = { receipt: formatReceipt(receipt), change: source, askedAt: undefined, said: undefined };
    return this.#book.metered.update({ ...record, state: "claimed", ...claimed });
  }

  /** The second step: the change. */
  async #collect(record: MeteredRecord, ask: Ask): Promise<Claimed> {
    const receipt = parseReceipt(record.receipt);
    if (record.change === null) return this.#done(record, receipt, []);
    const { origin } = record;
    const rule = this.#book.metered.rule(origin, receipt.receipt.rule)!;
    const tokens = await this.#prepare(record, changeOf(rule, receipt.receipt.charge), record.change);
    const answer = await ask({ batch: tokens.batch });
    if ("kind" in answer) return this.#withoutChange(record, answer);
    const second = formatReceipt(answer.receipt);
    if (second !== record.receipt) {
      await this.#checked(record, answer.receipt);
      throw new Refused("PREPAID_RECEIPT_INVALID", `${origin} signed two receipts for one request`, {
        receipts: [record.receipt!, second],
      });
    }
    if (answer.signatures === undefined) return later(origin, "its answer has no signatures");
    return this.#done(record, receipt, await this.#finish(record, tokens, answer.signatures, receipt));
  }

  /** The tokens of a change. */
  async #prepare(
    { origin, wallet, cap }: MeteredRecord,
    values: readonly bigint[],
    { label, epoch }: NonNullable<MeteredRecord["change"]>,
  ): Promise<NewTokens> {
    const keys = await this.#keys.of({ origin, wallet, epoch, values });
    return prepareTokens(this.#wallet, keys, { label, cap });
  }

  /** @throws Refused if a signature is wrong */
  async #finish(
    { origin }: MeteredRecord,
    tokens: NewTokens,
    signatures: Uint8Array,
    receipt: SignedReceipt,
  ): Promise<readonly SignedPack[]> {
    return tokens.finish(signatures, this.#wallet.now()).catch((cause: unknown) => {
      if (!(cause instanceof SottoError) || cause.code !== "INVALID_SIGNATURE") throw cause;
      throw new Refused("PREPAID_SIGNATURES_INVALID", `${origin} returned change with a wrong signature`, {
        receipts: [formatReceipt(receipt)],
      });
    });
  }

  async #done(record: MeteredRecord, signed: SignedReceipt, change: readonly SignedPack[]): Promise<Claimed> {
    const { id, origin } = record;
    const { charge, change: back, method, target, units } = signed.receipt;
    const { metered } = this.#book;
    await metered.end(record, charge, (changes) => {
      const found = this.#book.countFound(origin, record.lost ?? 0);
      return this.#book.putChange(change, [...changes, ...found], metered.inUse(id));
    });
    return { kind: "done", charge: { origin, method, target, units, charge, change: back, receipt: record.receipt! } };
  }

  /** Sends a claim. */
  async #ask(
    origin: string,
    { secret, ...token }: { readonly keyId: string; readonly nonce: string; readonly secret: Uint8Array },
    { batch, charge }: Pick<ChangeRequest, "batch" | "charge">,
  ): Promise<ChangeAnswer | Unsigned> {
    const proof = signChangeClaim(changeClaimOf(origin, { token, batch }), secret);
    const name = `${origin}${PREPAID_CHANGE_PATH}`;
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: formatChangeRequest({ token, proof, batch, charge }) };
    const limits = { name, maxBytes: MAX_METERED_BODY_BYTES, timeoutMs: TIMEOUT_MS };
    const answer = await ask(this.#settings.send, name, init, limits);
    if (answer.status !== 200) return unsignedOf(answer);
    try {
      return parseChangeAnswer(new TextDecoder().decode(answer.body));
    } catch (cause) {
      if (!(cause instanceof SottoError)) throw cause;
      throw pending(origin, message`its answer is invalid: ${cause}`, cause);
    }
  }

  /**
   * Checks a receipt before it is believed.
   * @returns the rule by which it charges
   * @throws Refused
   */
  async #checked(record: MeteredRecord, signed: SignedReceipt): Promise<MeteredRule> {
    const { origin } = record;
    const { metered } = this.#book;
    const { receipt } = signed;
    // Those of other months say nothing about this receipt.
    const ofMonth = (): SignedMeteredTerms[] =>
      metered
        .terms(origin)
        .filter(({ terms }) => terms.wallet === record.wallet && isSameMerchant(receipt, terms))
        .filter(({ terms }) => meteredEpochs(terms).includes(receipt.epoch));
    const isSigned = () =>
      isSignedReceipt(
        signed,
        ofMonth().map(({ terms }) => terms),
      );
    let isKnown = isSigned();
    if (!isKnown) {
      // The keys of a later month may be in terms that this wallet has not seen.
      await this.#terms.refresh(record);
      isKnown = isSigned();
    }
    const receipts = [formatReceipt(signed)];
    const terms = ofMonth().map(encodeSignedTerms);
    if (!isKnown)
      throw new Refused(
        "PREPAID_RECEIPT_INVALID",
        `${origin} answers with a receipt that its receipt key did not sign`,
        {
          receipts,
        },
      );
    const expected = { ...record, token: `0x${record.id}` };
    // An earlier wallet may have sent another request with a restored token.
    const about = record.restored ? { ...expected, ...requestOf(receipt), at: timeIn(receipt.epoch) } : expected;
    const rule = metered.rule(origin, receipt.rule);
    const [contradiction] = contradictions(
      [signed],
      ofMonth().map((each) => each.terms),
    );
    const wrong =
      otherRequest(signed, about) ??
      (rule !== undefined && rule.cap !== BigInt(record.cap) ? "its cap is not the token's value" : undefined) ??
      (rule === undefined ? "its rule is in no terms" : wrongCharge(receipt, rule)) ??
      (contradiction && `its ${contradiction.kind} contradicts the terms`);
    if (wrong !== undefined)
      throw new Refused("PREPAID_RECEIPT_INVALID", `${origin} signed a wrong receipt: ${wrong}`, { receipts, terms });
    return rule!;
  }

  /** Change is signed by the token's own month, or near its end by the next. @throws Refused */
  #assertMonth(record: MeteredRecord, epoch: string, signed: SignedReceipt): void {
    if (monthsOfChange(record).includes(epoch)) return;
    throw new Refused(
      "PREPAID_CHANGE_REFUSED",
      `${record.origin} signs change of a token of ${record.epoch} with its keys of ${epoch}: it could recognize the payer`,
      { receipts: [formatReceipt(signed)] },
    );
  }

  async #withoutReceipt(record: MeteredRecord, answer: Unsigned): Promise<Claimed> {
    const { kind, waitMs, said } = answer;
    if (kind === "unknown" && record.served !== true) {
      await this.#unknown(record);
      return { kind, waitMs };
    }
    if (kind === "running" || kind === "unknown") return { kind, waitMs };
    return this.#without(record, answer, message`${record.origin} does not say what it charged: ${said}`);
  }

  /** Each time that a token was shown counts once. Another wallet may have spent a restored token. */
  async #unknown(record: MeteredRecord): Promise<void> {
    const { metered } = this.#book;
    if (record.state === "unknown") return;
    if (record.restored) await metered.unknown(record);
    else
      await metered.unknown(
        { ...record, lost: (record.lost ?? 0) + 1 },
        this.#book.countLost(record.origin, this.#wallet.now()),
      );
  }

  #withoutChange(record: MeteredRecord, answer: Unsigned): Promise<Claimed> {
    return this.#without(record, answer, message`${record.origin} refuses the change: ${answer.said}`);
  }

  async #without(
    record: MeteredRecord,
    { kind, waitMs, reason }: Unsigned,
    text: readonly MessagePart[],
  ): Promise<Claimed> {
    const { origin } = record;
    // A merchant that says so before the month of the change has ended withholds it.
    const isOver =
      kind === "ended" && mayHaveEnded(record.change?.epoch ?? monthsOfChange(record)[1], this.#wallet.now());
    // An earlier wallet may have claimed the change of a restored token.
    if (isOver || (record.restored && (kind === "other" || kind === "refused"))) {
      await this.#book.metered.end(record, BigInt(record.cap), (changes) => this.#book.write(...changes));
      return { kind: "lost", error: undefined };
    }
    if (kind === "other" || kind === "refused")
      throw new Refused("PREPAID_CHANGE_REFUSED", `${origin} refuses the change of a request: ${reason}`, {
        ...(record.receipt !== null && { receipts: [record.receipt] }),
      });
    return { kind: "later", waitMs, error: new PrepaidError("PREPAID_CHANGE_PENDING", text, { origin, reason }) };
  }

  /**
   * Ends the claim of a request that the server has answered as paid and does not know.
   * @returns the error
   */
  async denied(id: string): Promise<PrepaidError | undefined> {
    const origin = this.#book.metered.request(id)?.origin;
    if (origin === undefined) return undefined;
    const text = `${origin} served a request and denies that its token was spent: it keeps the change`;
    const { error } = await this.#refuse(id, new Refused("PREPAID_CHANGE_REFUSED", text));
    return error;
  }

  async #refuse(id: string, { reason }: Refused) {
    const record = this.#book.metered.request(id);
    // Its owner has given it up meanwhile.
    if (record === undefined) return { kind: "lost", error: undefined } as const;
    const { receipts = [], terms = [] } = reason;
    const refused: MeteredRecord = { ...record, state: "refused", proof: { receipts, terms } };
    // One write: a process that dies after it has stopped, and has kept the proof.
    const error = await this.#book.stop(
      record.origin,
      reason,
      this.#wallet.now(),
      async (changes) => void (await this.#book.metered.update(refused, ...changes)),
    );
    return { kind: "lost", error } as const;
  }
}

/** The months whose keys may sign the change of a request. When a restored token was spent is not known. */
const monthsOfChange = ({ restored, epoch, at }: MeteredRecord): readonly [earlier: string, later: string] =>
  restored ? [epoch, laterEpoch(epoch, 1)] : changeMonths(epoch, at);

const timeIn = (epoch: string): number => Date.parse(`${epoch}-15T00:00:00Z`);

const requestOf = ({ method, target, rule }: SignedReceipt["receipt"]) => ({ method, target, rule });

const pending = (origin: string, why: string | readonly MessagePart[], cause?: unknown) => {
  const text = message`the change of a request has not arrived from ${origin}: ${typeof why === "string" ? why : { parts: why }}`;
  return new PrepaidError("PREPAID_CHANGE_PENDING", text, { origin }, { cause });
};

const later = (origin: string, why: string): Claimed => ({
  kind: "later",
  waitMs: undefined,
  error: pending(origin, why),
});
