import { type DepositRequest, depositWithAuthorizationCall, settleCall } from "@sotto/chain/ethers";
import {
  checkFreshness,
  type PaymentCall,
  paymentSignals,
  rangeSignals,
  resourceDigest,
  resourceHash,
  signalsDigest,
  validUntilOf,
  type WireBundle,
} from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { Lock, SottoService } from "@sotto/wallet";
import type { World } from "./world.ts";

type Body = Record<string, unknown>;

/**
 * A service for the in-memory chain, as a fetch function. Its tokens have valid claims, and settlements are mined and
 * appended immediately. Tests can set its clock. test/client uses the real service.
 */
export class LocalService {
  /** Called before each response. It may throw (no response), return another response, or return undefined. */
  before: (path: string, body: Body) => Promise<Body | undefined> | Body | undefined = () => undefined;
  /** Whether it appends deposits. */
  appends = true;
  /** Requested paths. */
  readonly asked: string[] = [];
  readonly client: SottoService;
  /** Answers the client's requests to the service. */
  readonly fetch: typeof fetch = (url, init) => this.#fetch(String(url), init);
  readonly #world: World;
  readonly #bundles = new Map<string, WireBundle>();
  readonly #settled = new Map<string, Body>();
  readonly #deposited = new Map<string, Body>();
  readonly #withdrawn = new Map<string, Body>();
  readonly #lock = new Lock();

  constructor(world: World) {
    this.#world = world;
    this.client = new SottoService("https://pay.example/zk", { fetch: this.fetch });
  }

  /** Settles without a request, as anyone with the bundle can. */
  settle(bundle: WireBundle): string {
    const { proof, publicSignals, resourceUrl, timestamp, senderCommitment } = bundle;
    const digest = resourceDigest({ resourceUrl, timestamp, senderCommitment: BigInt(senderCommitment) });
    const validUntil = String(validUntilOf(timestamp));
    const call: PaymentCall = { proof, signals: publicSignals, validUntil, resourceDigest: digest };
    const block = this.#world.chain.mine(settleCall(POOL, [call]));
    const log = block.logs[0];
    if (log === undefined) throw new Error("nothing was settled");
    return log.transactionHash;
  }

  async #fetch(url: string, init: RequestInit = {}): Promise<Response> {
    init.signal?.throwIfAborted();
    const path = url.replace("https://pay.example/zk/", "");
    this.asked.push(path);
    const body = JSON.parse(String(init.body ?? "{}")) as Body;
    const answer = (await this.before(path, body)) ?? (await this.answer(path, body));
    init.signal?.throwIfAborted();
    const { httpStatus = 200, ...told } = answer;
    return new Response(JSON.stringify(told), { status: Number(httpStatus) });
  }

  async answer(path: string, body: Body): Promise<Body> {
    if (path === "verify") return this.#verify(body as unknown as WireBundle);
    if (path === "settle") return this.#lock.run(() => this.#settle(String(body["paymentToken"])));
    if (path === "withdraw") return this.#withdraw(body);
    if (path === "deposit") return this.#lock.run(() => this.#deposit(body as unknown as DepositRequest));
    throw new Error(`nothing at ${path}`);
  }

  #verify(bundle: WireBundle): Body {
    const { publicSignals, amountPublicSignals, recipientPublicKey, resourceUrl, senderCommitment, timestamp } = bundle;
    const stale = checkFreshness(timestamp, this.#world.clock());
    if (stale?.kind === "FROM_THE_FUTURE")
      return { valid: false, reason: "TIMESTAMP_IN_FUTURE", message: stale.message };
    const { recipientKey, recipientTag } = rangeSignals(amountPublicSignals);
    const claims = {
      jti: "local",
      digest: signalsDigest(publicSignals.map(BigInt)),
      chainId: "31337",
      pool: POOL,
      recipient: recipientPublicKey,
      recipientKey,
      recipientTag,
      resourceHash: resourceHash(resourceUrl),
      senderCommitment,
      nullifier: paymentSignals(publicSignals).nullifier,
      timestamp,
      validUntil: Number(validUntilOf(timestamp)),
    };
    const token = `x.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.y`;
    this.#bundles.set(token, bundle);
    return { valid: true, paymentToken: token, expiresIn: 120 };
  }

  async #settle(token: string): Promise<Body> {
    const bundle = this.#bundles.get(token);
    if (bundle === undefined) return { httpStatus: 401, code: "INVALID_TOKEN" };
    const known = this.#settled.get(token);
    if (known !== undefined) return known;
    try {
      const txSignature = this.settle(bundle);
      await this.#world.append();
      const settled = { status: "success", txSignature, blockNumber: 1, gasFeePaidBy: POOL };
      this.#settled.set(token, settled);
      return settled;
    } catch {
      return { status: "failed", txSignature: "0x", reason: "EXPIRED" };
    }
  }

  /** Mines a deposit; a repeated request has the same outcome. */
  async #deposit(request: DepositRequest): Promise<Body> {
    const known = this.#deposited.get(request.salt);
    if (known !== undefined) return known;
    const { chain } = this.#world;
    if (BigInt(request.validBefore) <= BigInt(chain.time)) return { httpStatus: 422, code: "EXPIRED" };
    const block = chain.mine(depositWithAuthorizationCall(request));
    if (this.appends) await this.#world.append();
    const { transactionHash } = block.logs[0]!;
    const outcome = { status: "success", txSignature: transactionHash, blockNumber: block.number, gasFeePaidBy: POOL };
    this.#deposited.set(request.salt, outcome);
    return outcome;
  }

  /** Mines a withdrawal; a repeated request has the same outcome. */
  async #withdraw(body: Body): Promise<Body> {
    const digest = signalsDigest((body["signals"] as string[]).map(BigInt));
    const known = this.#withdrawn.get(digest);
    if (known !== undefined) return known;
    if (Number(body["validUntil"]) <= this.#world.chain.time) return { httpStatus: 422, code: "EXPIRED" };
    if (Number(body["validUntil"]) > this.#world.chain.time + 86_400)
      return { httpStatus: 422, code: "VALIDITY_TOO_LONG" };
    const block = this.#world.withdraw({ withdraw: body } as never);
    await this.#world.append();
    const { transactionHash } = block.logs[0]!;
    const outcome = { status: "success", txSignature: transactionHash, blockNumber: block.number, gasFeePaidBy: POOL };
    this.#withdrawn.set(digest, outcome);
    return outcome;
  }
}
