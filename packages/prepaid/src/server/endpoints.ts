// The paths of prepaid tokens: the signed schedules, the purchase of a pack, and its recovery.

import { createHash } from "node:crypto";
import {
  type Bytes32,
  MAX_CLOCK_SKEW_MS,
  MAX_PAYMENT_AGE_MS,
  networkOf,
  type ProofHeader,
  parseProofHeader,
  SottoError,
} from "@sotto/protocol";
import {
  type Asked,
  answered,
  CheckFailed,
  CheckUnavailable,
  type Decision,
  Gate,
  type PaywallCore,
  type PaywallRequest,
  Refusal,
  type Refused,
  wrongMethod,
} from "@sotto/resource-server";
import {
  encodeSignedSchedule,
  PREPAID_KEY_BYTES,
  PREPAID_KEYS_PATH,
  PREPAID_PATH,
  PREPAID_RECOVER_PATH,
  type PrepaidPurchase,
  parsePrepaidPurchase,
  prepaidPurchaseTarget,
  signsAt,
} from "../index.ts";
import type { Key } from "./keyring.ts";
import type { Prepaid } from "./prepaid.ts";
import { prepaidError, refuse } from "./responses.ts";
import { unsignable } from "./signer.ts";

/** Recoveries that ask chain and proofs at the same time, and that wait. */
const [RECOVERIES, WAITING_RECOVERIES] = [4, 64];
/** Lower case. */
const PROOF_HEADER = "x-payment-proof";
/** How long other programs may cache schedules and terms, seconds. */
export const KEYS_MAX_AGE = 300;

const malformed = (message: string): never => refuse("PREPAID_REQUEST_INVALID", message);

/** A purchase that may be charged for. */
interface Sale {
  readonly key: Key;
  readonly purchase: PrepaidPurchase;
  /** Base units. */
  readonly price: bigint;
}

export interface EndpointParts {
  readonly core: PaywallCore;
  readonly prepaid: Prepaid;
}

export class PrepaidEndpoints {
  readonly #parts: EndpointParts;
  readonly #keys: Uint8Array<ArrayBuffer>;
  readonly #recoveries = new Gate(RECOVERIES, WAITING_RECOVERIES);

  constructor(parts: EndpointParts) {
    this.#parts = parts;
    const schedules = parts.prepaid.schedules.map(encodeSignedSchedule);
    this.#keys = new TextEncoder().encode(JSON.stringify({ schedules }));
  }

  /** Answers a request to one of the paths. */
  async answer(request: PaywallRequest, asked: Asked): Promise<Decision> {
    const path = prepaidPath(asked.target.target);
    if (path === "keys") return this.#answerKeys(request.method);
    if (path === "recover") return this.#recover(request);
    const sale = this.#sale(request);
    if ("kind" in sale) return sale;
    const values = request.header(PROOF_HEADER);
    if (values.length > 0) return this.#sell(request, sale, values, asked.resource);
    // A pack is not paid with tokens, nor with any other method than the private payment.
    return this.#parts.core.challenge(request, { ...asked, price: sale.price, methods: [] });
  }

  /** Signs the batch, stores the signatures, and consumes the payment before it responds. */
  async #sell(request: PaywallRequest, sale: Sale, values: readonly string[], resource: string): Promise<Decision> {
    const { core } = this.#parts;
    const { key, purchase, price } = sale;
    const began = core.clock();
    let batch = new Uint8Array(0) as Uint8Array;
    const beforeProofs = async () => {
      batch = await this.#readBatch(request, sale);
    };
    return core.verify(values, { price, resource, beforeProofs, request }, async ({ payment, finish }) => {
      let signatures: Uint8Array<ArrayBuffer>;
      try {
        signatures = await this.#issue(sale, payment.digest, batch);
      } catch (error) {
        await finish(503);
        return this.#refusal(error);
      }
      await finish(200);
      const ms = core.clock() - began;
      core.report({ event: "issued", key: key.id, value: key.value, count: purchase.count, ms });
      return answered(signatures, "application/octet-stream");
    });
  }

  /** The same schedules for everybody. */
  #answerKeys(method: string): Decision {
    if (method !== "GET" && method !== "HEAD") return wrongMethod("GET, HEAD");
    const headers = { "cache-control": `public, max-age=${KEYS_MAX_AGE}` };
    return answered(this.#keys, "application/json; charset=utf-8", headers);
  }

  /**
   * The price of a purchase, or the response that refuses it. A key that does not sign is refused before any 402, so
   * that nobody pays for it.
   */
  #sale({ method, target }: PaywallRequest): Sale | Refused {
    if (method !== "POST") return wrongMethod("POST");
    try {
      const purchase = parsePurchase(target);
      const key = this.#signingKey(purchase.key);
      if (!this.#parts.prepaid.keyring.signs(key, this.#parts.core.clock()))
        refuse(
          "PREPAID_KEY_ENDED",
          `the key signs in ${key.epoch} only, or was closed; a pack paid then can be recovered`,
        );
      return { key, purchase, price: BigInt(purchase.count) * key.value };
    } catch (error) {
      if (error instanceof Refusal) return error.answer;
      throw error;
    }
  }

  /** Runs after the cheap checks of a proof: reads the batch, and starts the threads that will sign it. */
  async #readBatch(request: PaywallRequest, sale: Sale): Promise<Uint8Array> {
    const { signer } = this.#parts.prepaid;
    signer.assertCapacity(sale.purchase.count);
    const batch = await readBatch(request, sale);
    signer.start();
    return batch;
  }

  /** Signs a batch once, and stores the signatures before they are returned. */
  async #issue({ key, purchase }: Sale, payment: Bytes32, batch: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    const { store, signer } = this.#parts.prepaid;
    const before = await this.#stored(purchase);
    if (before !== undefined) return before.signatures;
    const signatures = await signer.sign(new Array<Key>(purchase.count).fill(key), batch);
    const { count, batch: hash } = purchase;
    const pack = { key_id: key.id, batch: hash, count, payment, signatures };
    await unavailable(() => store.addPack(pack));
    return new Uint8Array(signatures);
  }

  /**
   * The signatures of a pack that was paid for, however long ago, as long as the key lives. It reads the body only if the
   * payment is settled, because reading a body takes much longer than refusing the request.
   */
  async #recover(request: PaywallRequest): Promise<Decision> {
    const { core, prepaid } = this.#parts;
    const began = core.clock();
    if (request.method !== "POST") return wrongMethod("POST");
    try {
      const purchase = parsePurchase(request.target);
      const key = this.#signingKey(purchase.key);
      if (!prepaid.keyring.redeems(key, core.clock()))
        refuse("PREPAID_KEY_ENDED", `the key is for ${key.epoch}, and its tokens are no longer accepted`);
      const header = parseProof(request.header(PROOF_HEADER));
      if (header === undefined) return await this.#recoverStored(purchase, clientOf(request));
      const sale = { key, purchase, price: BigInt(purchase.count) * key.value };
      const signatures = await this.#recoverPaid(request, header, sale);
      const ms = core.clock() - began;
      core.report({ event: "recovered", key: key.id, value: key.value, count: purchase.count, ms });
      return answered(signatures, "application/octet-stream");
    } catch (error) {
      return this.#refusal(error);
    }
  }

  /**
   * Returns the signatures of a pack that was sold before. It needs no proof of payment, because only the payer of the pack
   * can use them. A wallet that was restored from its words finds its packs this way.
   */
  async #recoverStored(purchase: PrepaidPurchase, client: string | undefined): Promise<Decision> {
    const pack = await this.#recoveries.run(() => this.#stored(purchase), client);
    if (pack === undefined)
      return refuse("PREPAID_PACK_UNKNOWN", "this pack was not sold; show the proof of its payment");
    return answered(pack.signatures, "application/octet-stream");
  }

  async #recoverPaid(request: PaywallRequest, header: ProofHeader, sale: Sale): Promise<Uint8Array<ArrayBuffer>> {
    assertInEpoch(header, sale.key);
    // Before it takes a place, because packs that were answered before need neither chain nor service.
    await this.#parts.core.opened();
    const payment = await this.#recoveries.run(() => this.#verifyAgain(header, sale), clientOf(request));
    return this.#issue(sale, payment, await readBatch(request, sale));
  }

  /** The response for an error of the other methods. @throws any other error */
  #refusal(error: unknown): Refused {
    const { report } = this.#parts.core;
    if (error instanceof Refusal) {
      report({ event: "malformed" });
      return error.answer;
    }
    if (error instanceof CheckFailed) {
      report({ event: "refused", reason: error.failure });
      return error.retryAfter === undefined
        ? prepaidError("PREPAID_PAYMENT_REFUSED", "the payment is not a settled payment for this pack")
        : prepaidError("PREPAID_NOT_SETTLED", "the payment is not settled yet; try again", error.retryAfter);
    }
    if (!(error instanceof CheckUnavailable)) throw error;
    report({ event: "unavailable", reason: error.code, error });
    return prepaidError("PREPAID_UNAVAILABLE", "packs cannot be signed at the moment; try again", error.retryAfter);
  }

  #verifyAgain(header: ProofHeader, { purchase, price }: Sale): Promise<Bytes32> {
    const { core } = this.#parts;
    const resource = core.origin + prepaidPurchaseTarget(purchase);
    return core.verifyAgain(header, { price, resource }, async (digest) => {
      const before = await this.#stored(purchase);
      return before?.payment === digest;
    });
  }

  async #stored({ key, batch }: PrepaidPurchase) {
    const pack = await unavailable(() => this.#parts.prepaid.store.pack(key, batch));
    return pack === undefined ? undefined : { ...pack, signatures: new Uint8Array(pack.signatures) };
  }

  #signingKey(id: string): Key {
    const key = this.#parts.prepaid.keyring.find(id);
    if (key?.privateKey === undefined) return refuse("PREPAID_KEY_UNKNOWN", "this server does not sign with this key");
    return key;
  }
}

function prepaidPath(target: string): "keys" | "purchase" | "recover" | undefined {
  const [path] = target.split("?", 1);
  if (path === PREPAID_KEYS_PATH) return "keys";
  if (path === PREPAID_RECOVER_PATH) return "recover";
  return path === PREPAID_PATH ? "purchase" : undefined;
}

async function unavailable<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (cause) {
    throw new CheckUnavailable("STORE_UNAVAILABLE", 5, cause);
  }
}

function parsePurchase(target: string): PrepaidPurchase {
  try {
    return parsePrepaidPurchase(target.slice(target.indexOf("?") + 1));
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
    return malformed(error.message);
  }
}

/** The client that takes turns: all addresses of a customer's network are one. */
export const clientOf = ({ client }: PaywallRequest): string | undefined =>
  client === undefined ? undefined : networkOf(client);

/** Reads a batch and checks it against its purchase. */
async function readBatch({ body }: PaywallRequest, { key, purchase }: Sale): Promise<Uint8Array> {
  if (body === undefined) throw new TypeError("this adapter does not read bodies");
  const size = purchase.count * PREPAID_KEY_BYTES;
  const bytes = await body(size).catch(() => malformed(`the body is incomplete, or larger than ${size} bytes`));
  assertBatch(bytes, key, purchase);
  return bytes;
}

/** Before the payment counts: the batch is the one that it names, and every message can be signed. */
function assertBatch(batch: Uint8Array, key: Key, { count, batch: hash }: PrepaidPurchase): void {
  if (batch.length !== count * PREPAID_KEY_BYTES)
    malformed(`a batch of ${count} must have ${count * PREPAID_KEY_BYTES} bytes, got ${batch.length}`);
  if (`0x${createHash("sha256").update(batch).digest("hex")}` !== hash)
    malformed("the batch's SHA-256 is not the one that the query names");
  const wrong = unsignable(batch, () => key);
  if (wrong !== undefined) malformed(`message ${wrong} is not below the key's modulus`);
}

/** @returns undefined without a proof */
function parseProof([value, ...others]: readonly string[]): ProofHeader | undefined {
  if (value === undefined) return undefined;
  try {
    if (others.length === 0) return parseProofHeader(value);
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
  }
  return malformed("X-Payment-Proof must be the one of the purchase");
}

/**
 * Every payment that a purchase could have shown during the key's epoch, so that recovery refuses none of them. The
 * timestamp is the payer's, but the pool settles a payment only for minutes after it.
 */
function assertInEpoch({ timestamp }: ProofHeader, { epoch }: Key): void {
  const inEpoch = [timestamp - MAX_CLOCK_SKEW_MS, timestamp, timestamp + MAX_PAYMENT_AGE_MS];
  if (!inEpoch.some((time) => signsAt(epoch, time)))
    refuse("PREPAID_PAYMENT_REFUSED", `the payment was not made in the key's epoch, ${epoch}`);
}
