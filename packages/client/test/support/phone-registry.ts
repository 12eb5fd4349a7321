import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ChainSource } from "@sotto/chain";
import {
  type Address,
  bindingTypedData,
  deriveKeys,
  type ShieldedAddressBinding,
  type WalletKeys,
} from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { SottoService } from "@sotto/wallet";
import { Wallet as Account, type HDNodeWallet } from "ethers";
import { signTyped } from "../../src/phone/lookup.ts";

export const PHONE = "+14155550123";
/** The local chain's time at the start, the beginning of a slot. */
export const BEGIN = 1_800_000_000;

export const keysOf = (fill: number): WalletKeys =>
  deriveKeys(new Uint8Array(32).fill(fill), { chainId: 31337n, pool: POOL });

export const keyOf = (fill: number): string => keysOf(fill).shieldedAddress();

/** Fields of a link that differ from the default. */
export type Linked = Partial<ShieldedAddressBinding> & { signer?: HDNodeWallet };

export type Answer = Record<string, unknown>;

/** A registry over HTTP. It answers correctly unless the test replaces a response. */
export class LyingRegistry {
  readonly owner = Account.createRandom();
  /** The response to the next lookups: a body, or a status and a body. */
  answer: () => Promise<{ status: number; body: unknown }> = async () => ({ status: 404, body: {} });
  /** Called before each response. */
  before: () => void | Promise<void> = () => undefined;
  /** The requested paths, unchanged, and the headers of each request. */
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

  /** A correct response: signed by the wallet, with all fields of the registry. */
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

  /** Serves this link from now on; `lie` replaces fields of the response. */
  serve(linked: Linked = {}, lie: Answer = {}): void {
    this.answer = async () => ({ status: 200, body: { ...(await this.mapping(linked)), ...lie } });
  }
}

/** A chain on which no contract accepts a signature. */
export const withoutWallets = (chain: ChainSource): ChainSource => ({
  chainId: () => chain.chainId(),
  head: () => chain.head(),
  block: (number) => chain.block(number),
  logs: (query) => chain.logs(query),
  code: (address) => chain.code(address),
  call: async (call, block) => (call.to === undefined ? `0x${"00".repeat(32)}` : chain.call(call, block)),
});
