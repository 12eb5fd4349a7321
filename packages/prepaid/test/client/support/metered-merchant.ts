import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import type { Wallet, WalletOptions } from "@sotto/wallet";
import { newIdentity, type Seen } from "../../../../client/test/support/merchant.ts";
import { cast } from "../../../../client/test/support/scene.ts";
import type { World } from "../../../../wallet/test/support/world.ts";
import {
  type ChargeReceipt,
  changeClaimOf,
  changeEpochAt,
  changeOf,
  chargeOf,
  decodePrepaidHeader,
  encodeMeteredOffer,
  encodePrepaidKeyFile,
  encodeReceiptKeyFile,
  encodeSignedSchedule,
  epochOf,
  formatChangeAnswer,
  formatSwapAnswer,
  formatTermsAnswer,
  laterEpoch,
  METERED_CHARGE_HEADER,
  METERED_RULE_HEADER,
  type MeteredRule,
  type MeteredTerms,
  meteredRuleHash,
  meteredTermsDigest,
  meteredTermsTypedData,
  meteredValues,
  PREPAID_CHANGE_PATH,
  PREPAID_HEADER,
  PREPAID_KEY_BYTES,
  PREPAID_PATH,
  PREPAID_SWAP_PATH,
  PREPAID_TERMS_PATH,
  parseChangeRequest,
  parseSwapRequest,
  type SignedMeteredTerms,
  type SignedReceipt,
  signReceipt,
  swapHash,
  swapRecipes,
  tokenIdHash,
  verifyChangeClaim,
  type WirePrepaidKeyFile,
  type WireReceiptKeyFile,
} from "../../../src/index.ts";
import { newPair, PAIRS, type Pair, PrepaidMerchant, sign, signedSchedule } from "./merchant.ts";
import { ORIGIN, PrepaidWorld } from "./world.ts";

/** Base 1, each word of output 1, at most 10. */
export const RULE: MeteredRule = { base: 1n, units: [{ name: "output", price: 1n, per: 1 }], cap: 10n, grain: 1n };
const VALUES = meteredValues(RULE);
const SECRETS = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));

/** Key pairs by month and value; those of the cap are the ones that `PrepaidMerchant` sells. */
const KEYS: readonly (readonly Pair[])[] = await Promise.all(
  [0, 1].map(async (month) => [...(await Promise.all(VALUES.slice(1).map(newPair))), PAIRS[month]!]),
);

/** A request that was paid with a token. */
interface Row {
  readonly keyId: string;
  readonly method: string;
  readonly target: string;
  readonly rule: string;
  /** Milliseconds. */
  readonly at: number;
  running: boolean;
  units: Readonly<Record<string, bigint>>;
  charge: bigint;
  batch?: string;
  receipt?: ReturnType<typeof signReceipt>;
}

/** A merchant with metered routes, with real keys and checks. */
export class MeteredMerchant extends PrepaidMerchant {
  /** By `tokenIdHash`. */
  readonly rows = new Map<string, Row>();
  readonly swaps = new Map<string, Uint8Array>();
  terms: SignedMeteredTerms[] = [];
  rule = RULE;
  /** What each request uses. */
  units: Readonly<Record<string, bigint>> = { output: 2n };
  /** Whether requests continue after their headers. */
  streams = false;
  status = 200;
  /** The charge that a response says. */
  says: (charge: bigint) => bigint = (charge) => charge;
  /** Changes a receipt before it is signed. */
  forge: (receipt: ChargeReceipt) => ChargeReceipt = (receipt) => receipt;

  /** Answers requests that show a token, claims and swaps in place of this merchant. */
  server: ((seen: Seen) => Promise<Response>) | undefined;

  static override async open(world: World, owner: Wallet, origin: string): Promise<MeteredMerchant> {
    const merchant = new MeteredMerchant(await newIdentity(world, owner, origin));
    const keys = KEYS.map((pairs) => pairs.map(({ key }) => key));
    const signed = await signedSchedule(merchant.account, { origin, firstEpoch: merchant.epoch, values: VALUES, keys });
    merchant.schedules = [encodeSignedSchedule(signed)];
    merchant.terms = [await merchant.signTerms()];
    return merchant;
  }

  async signTerms(change: Partial<MeteredTerms> = {}): Promise<SignedMeteredTerms> {
    const terms: MeteredTerms = {
      wallet: this.account.address.toLowerCase() as `0x${string}`,
      chainId: 31337n,
      pool: POOL as `0x${string}`,
      origin: this.origin,
      firstEpoch: this.epoch,
      receiptKeys: SECRETS.map((secret) => bytesToHex(ed25519.getPublicKey(secret))),
      routes: [{ method: "GET", path: "/*", rule: this.rule }],
      ...change,
    };
    const { domain, types, message } = meteredTermsTypedData(terms);
    return { terms, signature: await this.account.signTypedData(domain, types, message) };
  }

  get #now(): number {
    return this.identity.world.clock();
  }

  #pair(keyId: string): { readonly pair: Pair; readonly value: bigint; readonly epoch: string } | undefined {
    const { firstEpoch } = this.schedules[0]!.schedule;
    for (const [month, pairs] of KEYS.entries())
      for (const [i, pair] of pairs.entries())
        if (pair.key.id === keyId) return { pair, value: VALUES[i]!, epoch: laterEpoch(firstEpoch, month) };
    return undefined;
  }

  protected override pairOf(keyId: string): Pair | undefined {
    return this.#pair(keyId)?.pair;
  }

  #signer(value: bigint, epoch: string): Pair {
    const month = epoch === this.schedules[0]!.schedule.firstEpoch ? 0 : 1;
    return KEYS[month]![VALUES.indexOf(value)]!;
  }

  protected override async answer(seen: Seen): Promise<Response> {
    const [path = ""] = seen.target.split("?");
    if (path === PREPAID_TERMS_PATH) return new Response(formatTermsAnswer(this.terms));
    const isServers = [PREPAID_CHANGE_PATH, PREPAID_SWAP_PATH].includes(path) || seen.headers.has(PREPAID_HEADER);
    if (isServers && this.server !== undefined) return this.server(seen);
    if (path === PREPAID_CHANGE_PATH) return this.#change(new TextDecoder().decode(seen.body));
    if (path === PREPAID_SWAP_PATH) return this.#swap(new TextDecoder().decode(seen.body));
    const token = seen.headers.get(PREPAID_HEADER);
    if (path.startsWith(PREPAID_PATH) || seen.headers.has("x-payment-proof")) return super.answer(seen);
    if (token === null) return this.#ask(seen.target);
    if (seen.headers.get(METERED_RULE_HEADER) !== meteredRuleHash(this.rule)) return this.#ask(seen.target, "rule");
    const { keyId, nonce } = decodePrepaidHeader(token);
    if (this.#pair(keyId)?.value !== this.rule.cap) return this.#ask(seen.target, "value");
    const refusal = this.checkToken(token, `${seen.method} ${seen.target}`);
    if (refusal !== undefined) return this.#ask(seen.target, refusal);
    const { method, target } = seen;
    const units = this.status >= 500 ? {} : this.units;
    const charge = this.status >= 500 ? 0n : chargeOf(this.rule, units);
    const rule = meteredRuleHash(this.rule);
    const row = { keyId, method, target, rule, at: this.#now, running: this.streams, units, charge };
    this.rows.set(tokenIdHash({ keyId, nonce }), row);
    const { body } = this.serve(target, "meter");
    const headers: HeadersInit = this.streams ? {} : { [METERED_CHARGE_HEADER]: String(this.says(charge)) };
    return new Response(body, { status: this.status, headers });
  }

  #ask(target: string, message?: string): Response {
    const { cap } = this.rule;
    const terms = meteredTermsDigest(this.terms.at(-1)!.terms);
    const metered = encodeMeteredOffer({ cap, rule: meteredRuleHash(this.rule), tokenKeyId: this.keyId, terms });
    return this.demand(target, cap, { metered }, message);
  }

  /** Ends all requests that run. */
  end(): void {
    for (const row of this.rows.values()) row.running = false;
  }

  #change(body: string): Response {
    const request = parseChangeRequest(body);
    const refused = (status: number, code: string, headers: HeadersInit = {}) =>
      Response.json({ code }, { status, headers });
    const id = tokenIdHash(request.token);
    const row = this.rows.get(id);
    if (row === undefined) return refused(404, "METERED_UNKNOWN");
    if (!verifyChangeClaim(changeClaimOf(this.origin, request), request.proof))
      return refused(403, "METERED_CLAIM_INVALID");
    if (row.running) return refused(409, "METERED_RUNNING", { "retry-after": "0" });
    const epoch = changeEpochAt(this.#pair(row.keyId)!.epoch, row.at);
    row.receipt ??= this.#receipt(id, row);
    const { receipt } = row;
    const { charge = row.charge } = request;
    if (request.batch === undefined || charge !== row.charge)
      return new Response(formatChangeAnswer({ epoch, receipt }));
    const values = changeOf(this.rule, row.charge);
    if (request.batch.length !== values.length * PREPAID_KEY_BYTES) return refused(400, "METERED_REQUEST_INVALID");
    const batch = bytesToHex(request.batch);
    row.batch ??= batch;
    if (row.batch !== batch) return refused(409, "METERED_BATCH_OTHER");
    const signatures = this.#sign(request.batch, values, epoch);
    return new Response(formatChangeAnswer({ epoch, receipt, signatures }));
  }

  #receipt(token: string, { method, target, rule, units, charge, at }: Row) {
    const { wallet, chainId, pool, origin, firstEpoch } = this.terms[0]!.terms;
    const epoch = epochOf(at);
    const change = this.rule.cap - charge;
    const receipt = { wallet, chainId, pool, origin, epoch, token, method, target, rule, units, charge, change };
    return this.signed(this.forge(receipt), epoch === firstEpoch ? 0 : 1);
  }

  /** Signs a receipt with the key of a month. */
  signed(receipt: ChargeReceipt, month = 0): SignedReceipt {
    return signReceipt(receipt, SECRETS[month]!);
  }

  #sign(batch: Uint8Array, values: readonly bigint[], epoch: string): Uint8Array {
    const parts = values.map((value, i) =>
      sign(this.#signer(value, epoch), batch.slice(i * PREPAID_KEY_BYTES, (i + 1) * PREPAID_KEY_BYTES)),
    );
    return new Uint8Array(Buffer.concat(parts));
  }

  #swap(body: string): Response {
    const request = parseSwapRequest(body);
    const hash = swapHash(request);
    const values = request.tokens.map(decodePrepaidHeader).map(({ keyId }) => this.#pair(keyId)!.value);
    const recipe = swapRecipes(VALUES).find(({ spend }) => spend.join() === values.join());
    if (recipe === undefined) return Response.json({ code: "METERED_REQUEST_INVALID" }, { status: 400 });
    if (!this.swaps.has(hash)) {
      if (request.tokens.some((token) => this.checkToken(token, hash) !== undefined))
        return Response.json({ code: "METERED_SPENT" }, { status: 409 });
      this.swaps.set(hash, this.#sign(request.batch, recipe.receive, request.epoch));
    }
    return new Response(formatSwapAnswer(this.swaps.get(hash)!));
  }

  /** The secrets of a real server of this merchant, which the options of its methods take. */
  secrets(): { readonly keys: WirePrepaidKeyFile; readonly receiptKeys: WireReceiptKeyFile } {
    const { origin } = this;
    const epochs = SECRETS.map((_, month) => laterEpoch(this.schedules[0]!.schedule.firstEpoch, month));
    const keys = KEYS.flatMap((pairs, month) =>
      pairs.map(({ secret }, i) => {
        const privateKey = String(secret.export({ type: "pkcs8", format: "pem" }));
        return { epoch: epochs[month]!, value: VALUES[i]!, privateKey };
      }),
    );
    return {
      keys: encodePrepaidKeyFile({ origin, keys }),
      receiptKeys: encodeReceiptKeyFile({ origin, keys: SECRETS.map((secret, i) => ({ epoch: epochs[i]!, secret })) }),
    };
  }

  /** What was charged so far. */
  charged(): bigint {
    return [...this.rows.values()].reduce((sum, { charge }) => sum + charge, 0n);
  }
}

/** A payer and a merchant with metered routes. */
export class MeteredWorld extends PrepaidWorld {
  declare readonly merchant: MeteredMerchant;

  static override async open(changes: Partial<WalletOptions> = {}, shared?: World): Promise<MeteredWorld> {
    return new MeteredWorld(await cast((world, owner) => MeteredMerchant.open(world, owner, ORIGIN), changes, shared));
  }
}
