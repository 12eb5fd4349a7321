import { decodeEvent } from "@sotto/chain";
import { buildInstructions, type InstructionsOptions, parseProofHeader, signalsDigest } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { Wallet as Account, type HDNodeWallet } from "ethers";
import type { World } from "../../../wallet/test/support/world.ts";
import { type SignedBinding, signBinding } from "../../src/phone/link.ts";

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

/** A merchant: its origin, its wallet, and the world that it belongs to. */
export interface Identity {
  readonly world: World;
  readonly origin: string;
  readonly account: HDNodeWallet;
  /** Signed by the account: which shielded address belongs to it. */
  readonly binding: SignedBinding;
}

/** @param owner the wallet that receives the payments */
export async function newIdentity(world: World, owner: Wallet, origin = "https://data.example"): Promise<Identity> {
  const account = Account.createRandom();
  return { world, origin, account, binding: await signBinding(owner, account) };
}

/**
 * A merchant that sells for private payments, as a fetch function, with real checks. Every route costs `price`.
 * test/client uses the real resource server.
 */
export class Merchant {
  readonly seen: Seen[] = [];
  /** Targets that were answered, and what was shown for them. */
  readonly served: { readonly target: string; readonly by: string }[] = [];
  price = 10n;
  misbehave: Misbehaviour = () => undefined;
  protected readonly identity: Identity;

  constructor(identity: Identity) {
    this.identity = identity;
  }

  get origin(): string {
    return this.identity.origin;
  }

  get account(): HDNodeWallet {
    return this.identity.account;
  }

  /** Targets of all requests. */
  targets(): string[] {
    return this.seen.map(({ target }) => target);
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(String(input));
    init.signal?.throwIfAborted();
    const body = init.body == null ? new Uint8Array(0) : new Uint8Array(await new Response(init.body).arrayBuffer());
    const target = url.pathname + url.search;
    const free = await this.route(target, init);
    if (free !== undefined) return free;
    const seen: Seen = { method: init.method ?? "GET", target, headers: new Headers(init.headers), body };
    this.seen.push(seen);
    const answer = () => this.answer(seen);
    const response = (await this.misbehave(seen, answer)) ?? (await answer());
    init.signal?.throwIfAborted();
    return response;
  };

  /** The answer to a request that is not for sale; undefined for all others. */
  protected route(_target: string, _init: RequestInit): Promise<Response> | Response | undefined {
    return undefined;
  }

  protected async answer({ target, headers }: Seen): Promise<Response> {
    const proof = headers.get("x-payment-proof");
    if (proof === null) return this.demand(target, this.price);
    this.assertSettled(proof, this.origin + target);
    return this.serve(target, "proof");
  }

  protected serve(target: string, by: string): Response {
    this.served.push({ target, by });
    return new Response(`served ${target}`);
  }

  /**
   * A 402.
   * @param offers what it offers besides the private payment
   */
  protected demand(target: string, price: bigint, offers: object = {}, message?: string): Response {
    const { world } = this.identity;
    const instructions = buildInstructions({
      ...this.recipient(),
      price,
      asset: world.token.address,
      decimals: 6,
      serviceUrl: "https://pay.example/zk",
      resource: this.origin + target,
      now: world.clock(),
    });
    const body = { ...instructions, payment: { ...instructions.payment, ...offers } };
    const headers = { "www-authenticate": "x402-zk" };
    return Response.json(message === undefined ? body : { ...body, message }, { status: 402, headers });
  }

  /** The address to which it asks to be paid. */
  protected recipient(): Pick<InstructionsOptions, "binding" | "signature" | "schedule"> {
    return this.identity.binding;
  }

  protected assertSettled(header: string, resource: string): void {
    const { publicSignals, txSignature, resourceUrl } = parseProofHeader(header);
    const digest = signalsDigest(publicSignals.map(BigInt));
    const logs = this.identity.world.chain.blocks.flatMap((block) => block.logs);
    const events = logs.filter(({ transactionHash }) => transactionHash === txSignature).map(decodeEvent);
    const settled = events.some((event) => event?.type === "settled" && event.digest === digest);
    if (!settled || (resourceUrl !== undefined && resourceUrl !== resource))
      throw new Error(`the payment for ${resource} is not settled`);
  }
}
