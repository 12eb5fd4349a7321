import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ChainSource } from "@sotto/chain";
import { type Address, bindingTypedData, deriveKeys, type ShieldedAddressBinding } from "@sotto/protocol";
import { Wallet as Account, type HDNodeWallet } from "ethers";
import { signTyped } from "../../src/phone/lookup.ts";
import { SottoService } from "../../src/service/service.ts";
import { POOL } from "./local-pool.ts";

export const PHONE = "+14155550123";
/** The local chain's time when it begins, a slot. */
export const BEGIN = 1_800_000_000;

export const keyOf = (fill: number): string =>
  deriveKeys(new Uint8Array(32).fill(fill), { chainId: 31337n, pool: POOL }).shieldedAddress();

/** What a link is of, where it is not the usual. */
export type Linked = Partial<ShieldedAddressBinding> & { signer?: HDNodeWallet };

export type Answer = Record<string, unknown>;

/** A registry that answers over HTTP: truthfully, unless its test replaces an answer. */
export class LyingRegistry {
  readonly owner = Account.createRandom();
  /** The answer to the next lookups: a body, or a status and a body. */
  answer: () => Promise<{ status: number; body: unknown }> = async () => ({ status: 404, body: {} });
  /** Run before each answer. */
  before: () => void | Promise<void> = () => undefined;
  /** Paths that were asked for, as they came, and the headers of each. */
  readonly asked: { path: string; headers: Record<string, unknown> }[] = [];
  url = "";
  readonly #server = createServer(async (request, response) => {
    this.asked.push({ path: request.url ?? "", headers: request.headers });
    await this.before();
    const { status, body } = await this.answer();
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });

  static async open(): Promise<LyingRegistry> {
    const registry = new LyingRegistry();
    await new Promise<void>((resolve) => registry.#server.listen(0, "127.0.0.1", resolve));
    registry.url = `http://127.0.0.1:${(registry.#server.address() as AddressInfo).port}/zk`;
    return registry;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  client(): SottoService {
    return new SottoService(this.url);
  }

  /** An honest answer: signed by its wallet, all fields as the registry has them. */
  async mapping({ signer = this.owner, ...changes }: Linked = {}): Promise<Answer> {
    const binding: ShieldedAddressBinding = {
      phone: PHONE,
      wallet: signer.address.toLowerCase() as Address,
      key: keyOf(1),
      chainId: 31337n,
      pool: POOL as Address,
      service: this.url,
      issuedAt: BEGIN,
      ...changes,
    };
    const { phone, key, chainId, ...rest } = binding;
    return {
      ...rest,
      phoneHash: createHash("sha256").update(phone).digest("hex"),
      encryptedMapping: true,
      verified: true,
      phoneNumber: phone,
      encryptionPublicKey: key,
      signature: await signTyped(signer, bindingTypedData(binding)),
      chainId: String(chainId),
    };
  }

  /** Answers this link from now on, changed where the registry lies. */
  serve(linked: Linked = {}, lie: Answer = {}): void {
    this.answer = async () => ({ status: 200, body: { ...(await this.mapping(linked)), ...lie } });
  }
}

/** The chain, on which no contract accepts a signature. */
export const withoutWallets = (chain: ChainSource): ChainSource => ({
  chainId: () => chain.chainId(),
  head: () => chain.head(),
  block: (number) => chain.block(number),
  logs: (query) => chain.logs(query),
  code: (address) => chain.code(address),
  call: async (call, block) => (call.to === undefined ? `0x${"00".repeat(32)}` : chain.call(call, block)),
});
