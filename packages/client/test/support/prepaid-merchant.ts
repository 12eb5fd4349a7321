import { constants, createPrivateKey, type KeyObject, privateDecrypt, verify } from "node:crypto";
import { decodeEvent } from "@sotto/chain";
import {
  decodePrepaidHeader,
  encodeRsaKey,
  encodeSignedSchedule,
  epochOf,
  generatePrepaidKey,
  laterEpoch,
  PREPAID_HEADER,
  PREPAID_KEY_BYTES,
  PREPAID_KEYS_PATH,
  PREPAID_PATH,
  PREPAID_RECOVER_PATH,
  type PrepaidKey,
  type PrepaidSchedule,
  parsePrepaidPurchase,
  prepaidChallengeDigest,
  prepaidPurchaseTarget,
  prepaidTokenInput,
  type SignedSchedule,
  scheduleTypedData,
  type WireSignedSchedule,
} from "@sotto/prepaid";
import { buildInstructions, parseProofHeader, signalsDigest } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { Wallet as Account, type HDNodeWallet, sha256 } from "ethers";
import { POOL } from "../../../wallet/test/support/local-pool.ts";
import type { World } from "../../../wallet/test/support/world.ts";
import { type SignedBinding, signBinding } from "../../src/phone/link.ts";

/** A key pair of a merchant. */
export interface Pair {
  readonly key: PrepaidKey;
  readonly secret: KeyObject;
}

async function newPair(): Promise<Pair> {
  const { key, privateKey } = await generatePrepaidKey();
  return { key, secret: createPrivateKey(privateKey) };
}

/** Signatures by key id and request: tests with the same seed ask for the same ones, and each takes a millisecond. */
const signed = new Map<string, Uint8Array<ArrayBuffer>>();

/** Raw RSA over each blinded message. */
export function sign({ key: { id }, secret }: Pair, request: Uint8Array): Uint8Array<ArrayBuffer> {
  const known = signed.get(id + sha256(request));
  if (known !== undefined) return known.slice();
  const key = { key: secret, padding: constants.RSA_NO_PADDING };
  const parts = Array.from({ length: request.length / PREPAID_KEY_BYTES }, (_, i) =>
    privateDecrypt(key, request.subarray(i * PREPAID_KEY_BYTES, (i + 1) * PREPAID_KEY_BYTES)),
  );
  const signatures = new Uint8Array(Buffer.concat(parts));
  signed.set(id + sha256(request), signatures);
  return signatures.slice();
}

/** Made once: key generation takes a while. */
export const PAIRS: readonly Pair[] = await Promise.all(Array.from({ length: 5 }, newPair));

/** A schedule of one value, signed by the account. */
export async function signedSchedule(
  account: HDNodeWallet,
  changes: Partial<PrepaidSchedule> & Pick<PrepaidSchedule, "origin" | "firstEpoch" | "values" | "keys">,
): Promise<SignedSchedule> {
  const wallet = account.address.toLowerCase() as `0x${string}`;
  const schedule: PrepaidSchedule = { wallet, chainId: 31337n, pool: POOL as `0x${string}`, ...changes };
  const { domain, types, message } = scheduleTypedData(schedule);
  return { schedule, signature: await account.signTypedData(domain, types, message) };
}

/** A request as the merchant saw it. */
export interface Seen {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Returns an answer that replaces the merchant's own. It may throw: then the request fails without an answer. */
type Misbehaviour = (
  seen: Seen,
  answer: () => Promise<Response>,
) => Promise<Response | undefined> | Response | undefined;

/**
 * A merchant that sells prepaid tokens, as a fetch function, with real keys and checks. Every route costs `price`.
 * test/client uses the real resource server.
 */
export class PrepaidMerchant {
  readonly account = Account.createRandom();
  readonly seen: Seen[] = [];
  /** Targets that were answered for a token, and for a proof. */
  readonly served: { readonly target: string; readonly by: "token" | "proof" }[] = [];
  readonly used = new Map<string, string>();
  schedules: WireSignedSchedule[] = [];
  price = 10n;
  misbehave: Misbehaviour = () => undefined;
  readonly origin: string;
  /** Key pairs by key id. */
  readonly #pairs = new Map(PAIRS.map((pair) => [pair.key.id, pair]));
  readonly #answers = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #world: World;
  #binding: SignedBinding | undefined;

  private constructor(world: World, origin: string) {
    this.#world = world;
    this.origin = origin;
  }

  /** Its keys of this epoch and the next are PAIRS[0] and PAIRS[1]. */
  static async open(world: World, owner: Wallet, origin = "https://data.example"): Promise<PrepaidMerchant> {
    const merchant = new PrepaidMerchant(world, origin);
    merchant.#binding = await signBinding(owner, merchant.account);
    const keys = [[PAIRS[0]!.key], [PAIRS[1]!.key]];
    const terms = { origin, firstEpoch: merchant.epoch, values: [merchant.price], keys };
    merchant.schedules = [encodeSignedSchedule(await signedSchedule(merchant.account, terms))];
    return merchant;
  }

  get epoch(): string {
    return epochOf(this.#world.clock());
  }

  /** Id of the key that signs now. */
  get keyId(): string {
    return (this.epoch === this.schedules[0]!.schedule.firstEpoch ? PAIRS[0]! : PAIRS[1]!).key.id;
  }

  /** Targets of all requests, without those of prepaid paths. */
  targets(): string[] {
    return this.seen.map(({ target }) => target);
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(String(input));
    init.signal?.throwIfAborted();
    const body = init.body == null ? new Uint8Array(0) : new Uint8Array(await new Response(init.body).arrayBuffer());
    const target = url.pathname + url.search;
    const seen: Seen = { method: init.method ?? "GET", target, headers: new Headers(init.headers), body };
    this.seen.push(seen);
    const answer = () => this.#answer(seen);
    const response = (await this.misbehave(seen, answer)) ?? (await answer());
    init.signal?.throwIfAborted();
    return response;
  };

  async #answer(seen: Seen): Promise<Response> {
    const [path, query] = seen.target.split("?");
    if (path === PREPAID_KEYS_PATH) return Response.json({ schedules: this.schedules });
    if (path === PREPAID_RECOVER_PATH) return this.#recover(seen, query);
    if (path === PREPAID_PATH) return this.#sell(seen, query);
    const proof = seen.headers.get("x-payment-proof");
    if (proof !== null) {
      this.#assertSettled(proof, this.origin + seen.target);
      return this.#serve(seen.target, "proof");
    }
    const token = seen.headers.get(PREPAID_HEADER);
    if (token === null) return this.challenge(seen.target, this.price, this.keyId);
    const refusal = this.#checkToken(token, `${seen.method} ${seen.target}`);
    if (refusal !== undefined) return this.challenge(seen.target, this.price, this.keyId, refusal);
    return this.#serve(seen.target, "token");
  }

  #serve(target: string, by: "token" | "proof"): Response {
    this.served.push({ target, by });
    return new Response(`served ${target}`);
  }

  challenge(target: string, price: bigint, prepaidKeyId?: string, message?: string): Response {
    const { binding, signature } = this.#binding!;
    const instructions = buildInstructions({
      binding,
      signature,
      price,
      asset: this.#world.token.address,
      decimals: 6,
      serviceUrl: "https://pay.example/zk",
      resource: this.origin + target,
      now: this.#world.clock(),
    });
    const prepaid = prepaidKeyId === undefined ? undefined : { tokenKeyId: prepaidKeyId, value: String(price) };
    const body = { ...instructions, payment: { ...instructions.payment, prepaid } };
    const headers = { "www-authenticate": "x402-zk" };
    return Response.json(message === undefined ? body : { ...body, message }, { status: 402, headers });
  }

  /** The reason to refuse a token; undefined if it is valid and unused. */
  #checkToken(header: string, request: string): string | undefined {
    const token = decodePrepaidHeader(header);
    const pair = this.#pairs.get(token.keyId);
    if (pair === undefined) return "unknown key";
    if (token.challengeDigest !== prepaidChallengeDigest(this.origin)) return "another origin";
    const spki = { key: Buffer.from(encodeRsaKey(pair.key.modulus)), format: "der", type: "spki" } as const;
    const pss = { ...spki, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 };
    if (!verify("sha384", prepaidTokenInput(token), pss, token.signature)) return "wrong signature";
    if (this.used.has(token.nonce)) return "the token was used before";
    this.used.set(token.nonce, request);
    return undefined;
  }

  #assertSettled(header: string, resource: string): void {
    const { publicSignals, txSignature, resourceUrl } = parseProofHeader(header);
    const digest = signalsDigest(publicSignals.map(BigInt));
    const logs = this.#world.chain.blocks.flatMap((block) => block.logs);
    const events = logs.filter(({ transactionHash }) => transactionHash === txSignature).map(decodeEvent);
    const settled = events.some((event) => event?.type === "settled" && event.digest === digest);
    if (!settled || (resourceUrl !== undefined && resourceUrl !== resource))
      throw new Error(`the payment for ${resource} is not settled`);
  }

  #sell({ target, headers, body }: Seen, query: string | undefined): Response {
    const { key, count, batch } = parsePrepaidPurchase(query);
    if (key !== this.keyId) return Response.json({ code: "PREPAID_KEY_UNKNOWN" }, { status: 404 });
    const proof = headers.get("x-payment-proof");
    if (proof === null) return this.challenge(target, BigInt(count) * this.price);
    if (sha256(body) !== batch) return Response.json({ code: "PREPAID_REQUEST_INVALID" }, { status: 400 });
    this.#assertSettled(proof, this.origin + target);
    return this.#signed(key, batch, body);
  }

  #recover({ headers, body }: Seen, query: string | undefined): Response {
    const purchase = parsePrepaidPurchase(query);
    const { key, batch } = purchase;
    const proof = headers.get("x-payment-proof");
    if (this.#answers.has(batch)) return this.#signed(key, batch, body);
    if (proof === null) return Response.json({ code: "PREPAID_PACK_UNKNOWN" }, { status: 404 });
    if (sha256(body) !== batch) return Response.json({ code: "PREPAID_REQUEST_INVALID" }, { status: 400 });
    this.#assertSettled(proof, this.origin + prepaidPurchaseTarget(purchase));
    return this.#signed(key, batch, body);
  }

  #signed(key: string, batch: string, request: Uint8Array): Response {
    const answer = this.#answers.get(batch) ?? sign(this.#pairs.get(key)!, request);
    this.#answers.set(batch, answer);
    return new Response(answer, { headers: { "content-type": "application/octet-stream" } });
  }

  /** The keys of a later schedule, for the epoch after the last one. */
  laterEpoch(months: number): string {
    return laterEpoch(this.epoch, months);
  }
}
