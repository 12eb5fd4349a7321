import { constants, createPrivateKey, type KeyObject, privateDecrypt, verify } from "node:crypto";
import { POOL } from "@sotto/test-chain/pool";
import type { Wallet } from "@sotto/wallet";
import { type HDNodeWallet, sha256 } from "ethers";
import { Merchant, newIdentity, type Seen } from "../../../../client/test/support/merchant.ts";
import type { World } from "../../../../wallet/test/support/world.ts";
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
} from "../../../src/index.ts";

/** A key pair of a merchant. */
export interface Pair {
  readonly key: PrepaidKey;
  readonly secret: KeyObject;
}

export async function newPair(): Promise<Pair> {
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

/** A merchant that also sells prepaid tokens, with real keys and checks. */
export class PrepaidMerchant extends Merchant {
  readonly used = new Map<string, string>();
  schedules: WireSignedSchedule[] = [];
  /** Key pairs by key id. */
  readonly #pairs = new Map(PAIRS.map((pair) => [pair.key.id, pair]));
  readonly #answers = new Map<string, Uint8Array<ArrayBuffer>>();

  /** Its keys of this epoch and the next are PAIRS[0] and PAIRS[1]. */
  static async open(world: World, owner: Wallet, origin: string): Promise<PrepaidMerchant> {
    const merchant = new PrepaidMerchant(await newIdentity(world, owner, origin));
    const keys = [[PAIRS[0]!.key], [PAIRS[1]!.key]];
    const terms = { origin, firstEpoch: merchant.epoch, values: [merchant.price], keys };
    merchant.schedules = [encodeSignedSchedule(await signedSchedule(merchant.account, terms))];
    return merchant;
  }

  get epoch(): string {
    return epochOf(this.identity.world.clock());
  }

  /** Id of the key that signs now. */
  get keyId(): string {
    return (this.epoch === this.schedules[0]!.schedule.firstEpoch ? PAIRS[0]! : PAIRS[1]!).key.id;
  }

  protected override async answer(seen: Seen): Promise<Response> {
    const [path, query] = seen.target.split("?");
    if (path === PREPAID_KEYS_PATH) return Response.json({ schedules: this.schedules });
    if (path === PREPAID_RECOVER_PATH) return this.#recover(seen, query);
    if (path === PREPAID_PATH) return this.#sell(seen, query);
    if (seen.headers.has("x-payment-proof")) return super.answer(seen);
    const token = seen.headers.get(PREPAID_HEADER);
    if (token === null) return this.challenge(seen.target, this.price, this.keyId);
    const refusal = this.checkToken(token, `${seen.method} ${seen.target}`);
    if (refusal !== undefined) return this.challenge(seen.target, this.price, this.keyId, refusal);
    return this.serve(seen.target, "token");
  }

  challenge(target: string, price: bigint, prepaidKeyId?: string, message?: string): Response {
    const prepaid = prepaidKeyId === undefined ? undefined : { tokenKeyId: prepaidKeyId, value: String(price) };
    return this.demand(target, price, { prepaid }, message);
  }

  /** The key pair with this id. */
  protected pairOf(keyId: string): Pair | undefined {
    return this.#pairs.get(keyId);
  }

  /** The reason to refuse a token; undefined if it is valid and unused. */
  protected checkToken(header: string, request: string): string | undefined {
    const token = decodePrepaidHeader(header);
    const pair = this.pairOf(token.keyId);
    if (pair === undefined) return "unknown key";
    if (token.challengeDigest !== prepaidChallengeDigest(this.origin)) return "another origin";
    const spki = { key: Buffer.from(encodeRsaKey(pair.key.modulus)), format: "der", type: "spki" } as const;
    const pss = { ...spki, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 };
    if (!verify("sha384", prepaidTokenInput(token), pss, token.signature)) return "wrong signature";
    if (this.used.has(token.nonce)) return "the token was used before";
    this.used.set(token.nonce, request);
    return undefined;
  }

  #sell({ target, headers, body }: Seen, query: string | undefined): Response {
    const { key, count, batch } = parsePrepaidPurchase(query);
    if (key !== this.keyId) return Response.json({ code: "PREPAID_KEY_UNKNOWN" }, { status: 404 });
    const proof = headers.get("x-payment-proof");
    if (proof === null) return this.challenge(target, BigInt(count) * this.price);
    if (sha256(body) !== batch) return Response.json({ code: "PREPAID_REQUEST_INVALID" }, { status: 400 });
    this.assertSettled(proof, this.origin + target);
    return this.#signed(key, batch, body);
  }

  #recover({ headers, body }: Seen, query: string | undefined): Response {
    const purchase = parsePrepaidPurchase(query);
    const { key, batch } = purchase;
    const proof = headers.get("x-payment-proof");
    if (this.#answers.has(batch)) return this.#signed(key, batch, body);
    if (proof === null) return Response.json({ code: "PREPAID_PACK_UNKNOWN" }, { status: 404 });
    if (sha256(body) !== batch) return Response.json({ code: "PREPAID_REQUEST_INVALID" }, { status: 400 });
    this.assertSettled(proof, this.origin + prepaidPurchaseTarget(purchase));
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
