// A small resource server for tests of the client: it answers 402 and accepts proofs as the interface describes, and it
// misbehaves if a test asks for it. It checks only what these tests need, with the payments that it finds on chain.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TypedDataSigner } from "@sotto/local/merchant/prepaid-keys";
import {
  BINDING_SLOT_SECONDS,
  bindingTypedData,
  buildInstructions,
  type PaymentInstructions,
  type ProofHeader,
  parseProofHeader,
  paymentSignals,
  type ShieldedAddressBinding,
  signalsDigest,
} from "@sotto/protocol";
import { MemoryStore, ViewingWallet, type Wallet } from "@sotto/wallet";
import { Wallet as Account, type HDNodeWallet } from "ethers";
import type { World } from "./wallets.ts";

export interface Sale {
  readonly target: string;
  readonly method: string;
  readonly body: string;
  readonly digest: string;
  readonly nullifier: string;
}

/** Called before the server's own rules. Returns true if it has answered the request. */
type Misbehaviour = (request: IncomingMessage, response: ServerResponse, proof: string | undefined) => boolean;

export interface SmallServerOptions {
  price?: bigint;
  account?: HDNodeWallet;
  serviceUrl?: string;
  /** Changes the body of a 402 before the server sends it. */
  tamper?: (instructions: PaymentInstructions) => unknown;
  misbehave?: Misbehaviour;
}

/** The binding that a merchant's wallet signs for its shielded address, with the signature. */
export async function bindingOf(
  { chainId, pool }: Pick<World, "chainId" | "pool">,
  owner: Wallet,
  account: TypedDataSigner,
) {
  const binding: ShieldedAddressBinding = {
    phone: "",
    wallet: account.address.toLowerCase() as `0x${string}`,
    key: owner.shieldedAddress,
    chainId: BigInt(chainId),
    pool: pool as `0x${string}`,
    service: "",
    issuedAt: Math.floor(Date.now() / 1000 / BINDING_SLOT_SECONDS) * BINDING_SLOT_SECONDS,
  };
  const { domain, types, message } = bindingTypedData(binding);
  return { binding, signature: await account.signTypedData(domain, types, message) };
}

export class SmallServer {
  url = "";
  /** Host and port. */
  host = "";
  options: SmallServerOptions;
  readonly sales: Sale[] = [];
  /** Number of 402 responses to requests without a proof. */
  challenges = 0;
  /** Number of requests with a proof. */
  shown = 0;
  /** Its wallet, which signs the address that is paid. */
  account: HDNodeWallet;
  readonly #world: World;
  readonly #owner: Wallet;
  readonly #viewing: ViewingWallet;
  readonly #used = new Set<string>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  private constructor(world: World, owner: Wallet, viewing: ViewingWallet, options: SmallServerOptions) {
    this.#world = world;
    this.#owner = owner;
    this.#viewing = viewing;
    this.options = options;
    this.account = options.account ?? Account.createRandom();
  }

  /** @param owner the merchant's wallet */
  static async open(world: World, owner: Wallet, options: SmallServerOptions = {}): Promise<SmallServer> {
    const viewing = await ViewingWallet.open({
      keys: owner.viewingKeys({ lasting: true }),
      chain: world.node.url,
      chainId: BigInt(world.chainId),
      pool: world.pool,
      deploymentBlock: world.deploymentBlock,
      store: new MemoryStore(),
      finality: 0,
    });
    const server = new SmallServer(world, owner, viewing, options);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    server.host = `127.0.0.1:${(server.#server.address() as AddressInfo).port}`;
    server.url = `http://${server.host}`;
    return server;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Total of the payments that the server received on chain, base units. */
  async received(): Promise<bigint> {
    await this.#viewing.scan();
    return this.#viewing.total();
  }

  async instructions(target: string): Promise<PaymentInstructions> {
    const { token, serviceUrl } = this.#world;
    const { binding, signature } = await bindingOf(this.#world, this.#owner, this.account);
    return buildInstructions({
      binding,
      signature,
      price: this.options.price ?? 10_000n,
      asset: token,
      decimals: 6,
      serviceUrl: this.options.serviceUrl ?? serviceUrl,
      resource: `${this.url}${target}`,
      now: Date.now(),
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: target = "", method = "" } = request;
    // Pages of other origins may pay.
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-expose-headers", "www-authenticate");
    if (method === "OPTIONS") {
      response.writeHead(204, { "access-control-allow-headers": "x-payment-proof" }).end();
      return;
    }
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const found = request.headers["x-payment-proof"];
    const proof = typeof found === "string" ? found : undefined;
    if (proof !== undefined) this.shown += 1;
    if (this.options.misbehave?.(request, response, proof)) return;
    if (target.startsWith("/free")) return void response.end("free");
    if (proof === undefined) {
      this.challenges += 1;
      const instructions = await this.instructions(target);
      response
        .writeHead(402, { "www-authenticate": "x402-zk", "content-type": "application/json" })
        .end(JSON.stringify(this.options.tamper?.(instructions) ?? instructions));
      return;
    }
    const refused = await this.#judge(parseProofHeader(proof), target);
    if (refused !== undefined) {
      response.writeHead(402, { "content-type": "application/json", "www-authenticate": "x402-zk" });
      response.end(JSON.stringify({ error: "Invalid payment proof", message: refused }));
      return;
    }
    const header = parseProofHeader(proof);
    const digest = signalsDigest(header.publicSignals);
    this.sales.push({
      target,
      method,
      body,
      digest,
      nullifier: String(paymentSignals(header.publicSignals).nullifier),
    });
    response.end(`sold ${target} ${body}`);
  }

  async #judge(header: ProofHeader, target: string): Promise<string | undefined> {
    if (header.recipientPublicKey !== this.account.address.toLowerCase()) return "another recipient";
    if (header.resourceUrl !== `${this.url}${target}`) return "another resource";
    if (Date.now() - header.timestamp > 300_000) return "too old";
    await this.#viewing.scan();
    if (!this.#viewing.received().some(({ transactionHash }) => transactionHash === header.txSignature))
      return "not settled";
    const nullifier = String(paymentSignals(header.publicSignals).nullifier);
    if (this.#used.has(nullifier)) return "used";
    this.#used.add(nullifier);
    return undefined;
  }
}
