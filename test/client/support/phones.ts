// A real phone registry on the tests' chain, and people who link their numbers to it.

import { join } from "node:path";
import { type LookupSigner, signPhoneLink } from "@sotto/client";
import { type CodeMessage, type RunningRegistry, readRegistryConfig, startRegistry } from "@sotto/phone-registry";
import { createLog } from "@sotto/server";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { NO_LIMITS, registryEnvironment } from "@sotto/test-world/registry-settings";
import type { World } from "@sotto/test-world/wallets";
import { SottoService, type Wallet } from "@sotto/wallet";
import { Wallet as Account, type HDNodeWallet } from "ethers";

/** A person with an account, a wallet and a number to link. */
export interface Person<A extends LookupSigner = HDNodeWallet> {
  readonly account: A;
  readonly wallet: Wallet;
}

/** Number of phone numbers that the tests have used, over all registries. */
let numbers = 0;

export class Phones {
  readonly client: SottoService;
  readonly #running: RunningRegistry;
  readonly #codes: CodeMessage[];

  private constructor(running: RunningRegistry, codes: CodeMessage[]) {
    this.#running = running;
    this.#codes = codes;
    this.client = new SottoService(running.url);
  }

  static async open(world: World, settings: Record<string, string> = {}): Promise<Phones> {
    const folder = temporaryFolder("phones");
    const codes: CodeMessage[] = [];
    const config = readRegistryConfig({
      ...registryEnvironment(world),
      ...NO_LIMITS,
      SOTTO_PHONE_KEYS: join(folder, "keys.json"),
      ...settings,
    });
    const sender = { send: async (message: CodeMessage) => void codes.push(message) };
    const running = await startRegistry(config, createLog("silent"), { sender });
    return new Phones(running, codes);
  }

  get url(): string {
    return this.#running.url;
  }

  async close(): Promise<void> {
    await this.#running.close();
  }

  newNumber(): string {
    numbers += 1;
    return `+4915112345${String(numbers).padStart(3, "0")}`;
  }

  person(wallet: Wallet): Person {
    return { account: Account.createRandom(), wallet };
  }

  /** The latest code that the registry sent to any number. */
  lastCode(): string {
    return this.#codes.at(-1)!.code;
  }

  /** Links a number, and verifies it unless `proven` is false. */
  async link(
    phone: string,
    { account, wallet }: Person<LookupSigner>,
    proven = true,
    issuedAt?: number,
  ): Promise<void> {
    const options = { phone, service: this.#running.service, issuedAt };
    const link = await signPhoneLink(wallet, account, options);
    await this.client.link({ ...link });
    if (!proven) return;
    const { code } = this.#codes.findLast(({ phone: of }) => of === phone)!;
    await this.client.phoneVerify({ phoneNumber: phone, walletAddress: link.walletAddress, code });
  }
}
