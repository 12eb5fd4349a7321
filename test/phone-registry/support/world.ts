// Registries on a real chain, tested over HTTP, and wallets that sign for them.

import {
  type CodeMessage,
  type CodeSender,
  type RunningRegistry,
  readRegistryConfig,
  startRegistry,
} from "@sotto/phone-registry";
import {
  bindingSlots,
  bindingTypedData,
  deriveKeys,
  encodeShieldedAddress,
  randomSeed,
  type ShieldedAddressBinding,
  unlinkTypedData,
} from "@sotto/protocol";
import { createLog } from "@sotto/server";
import { type Answer, call, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import type { Signer } from "@sotto/test-world/contract-wallets";
import { NO_LIMITS, registryEnvironment } from "@sotto/test-world/registry-settings";
import { openWorld, type World } from "@sotto/test-world/service";
import type { Suite } from "mocha";

export { call, post } from "@sotto/test-kit/http";
export { account, type Signer } from "@sotto/test-world/contract-wallets";
export { NO_LIMITS, registryEnvironment } from "@sotto/test-world/registry-settings";
export { closeWorld, openWorld, type World } from "@sotto/test-world/service";

export interface TestRegistry extends RunningRegistry {
  readonly logged: string[];
  /** Every code that the registry sent, oldest first. */
  readonly codes: CodeMessage[];
  /** Set an error to make sending fail. */
  failure: Error | undefined;
  /** How far the registry's clock is ahead of this machine's, ms; tests set it. */
  ahead: number;
  /** The registry's pool and chain. */
  readonly world: World;
  link(body: unknown): Promise<Answer>;
  verify(body: unknown): Promise<Answer>;
  unlink(body: unknown): Promise<Answer>;
  resolve(phone: string): Promise<Answer>;
}

export interface Parts {
  /** Replaces the sender that records codes. */
  readonly sender?: CodeSender;
  /** Replaces the default clock, which follows this machine's clock and `ahead`. */
  readonly clock?: () => number;
}

/**
 * A registry for all tests of a suite, opened before the first one. Each test begins with this machine's time and a sender
 * that works.
 */
export function registryOf(suite: Suite, settings: Record<string, string> = {}, parts: Parts = {}): TestRegistry {
  slow(suite, "a chain and a registry's processes");
  const registry = {} as TestRegistry;
  suite.beforeAll(async () => void (await openTestRegistry(settings, parts, registry)));
  suite.beforeEach(() => void Object.assign(registry, { ahead: 0, failure: undefined }));
  suite.afterAll(() => registry.close());
  return registry;
}

/** Starts a new registry on the shared chain, with a database in memory. @param target becomes the registry */
export async function openTestRegistry(
  settings: Record<string, string> = {},
  parts: Parts = {},
  target = {} as Partial<TestRegistry>,
): Promise<TestRegistry> {
  const world = await openWorld();
  const logged: string[] = [];
  const log = createLog("debug", { write: (line: string) => void logged.push(line) });
  const config = readRegistryConfig({ ...registryEnvironment(world), ...NO_LIMITS, ...settings });
  const codes: CodeMessage[] = [];
  const state = Object.assign(target, { failure: undefined, ahead: 0 } as Pick<TestRegistry, "failure" | "ahead">);
  const sender: CodeSender = {
    async send(message) {
      if (state.failure !== undefined) throw state.failure;
      codes.push(message);
    },
  };
  const clock = () => Date.now() + state.ahead;
  const running = await startRegistry(config, log, { sender, clock, ...parts });
  const asks = (path: string) => (body: unknown) => post(`${running.url}/phone/${path}`, body);
  return Object.assign(state, {
    ...running,
    logged,
    codes,
    world,
    link: asks("link"),
    verify: asks("verify"),
    unlink: asks("unlink"),
    resolve: (phone: string) => call(resolveUrl(running, phone)),
  });
}

/** A signer of typed data: an account, or the owner of a contract wallet. */
export const newShieldedAddress = (): string => {
  const keys = deriveKeys(randomSeed(), { chainId: 31337n, pool: `0x${"5a".repeat(20)}` });
  return encodeShieldedAddress({ encryptionKey: keys.encryptionKey, ownerTag: keys.ownerTag(0) });
};

let lines = 0;
/** A German mobile number that no test has used before. */
export const newNumber = (): string => `+49151${String(10_000_000 + lines++)}`;

export interface LinkFields {
  readonly phoneNumber: string;
  readonly walletAddress: string;
  readonly signature: string;
  readonly encryptionPublicKey: string;
}

/** The binding that a wallet signs for a registry; `lies` overrides fields. */
export function bindingFor(
  { service, world }: Pick<TestRegistry, "service" | "world">,
  wallet: string,
  phone: string,
  lies: Partial<ShieldedAddressBinding> = {},
): ShieldedAddressBinding {
  return {
    phone,
    wallet: wallet as `0x${string}`,
    key: newShieldedAddress(),
    service,
    chainId: BigInt(world.chainId),
    pool: world.pool as `0x${string}`,
    issuedAt: bindingSlots(Date.now())[0]!,
    ...lies,
  };
}

/** The body of a link request: exactly the four fields of the interface. */
export async function linkBody(
  registry: Pick<TestRegistry, "service" | "world">,
  signer: Signer,
  phone: string,
  lies: Partial<ShieldedAddressBinding> = {},
): Promise<LinkFields> {
  const binding = bindingFor(registry, signer.address, phone, lies);
  const signature = await signer.sign(bindingTypedData(binding));
  return { phoneNumber: phone, walletAddress: signer.address, signature, encryptionPublicKey: binding.key };
}

export async function unlinkBody({ service, world }: TestRegistry, signer: Signer, phone: string, issuedAt?: number) {
  const [slot = 0] = bindingSlots(Date.now());
  const fields = { chainId: BigInt(world.chainId), pool: world.pool as `0x${string}`, service, phone };
  const unlink = { ...fields, wallet: signer.address as `0x${string}`, issuedAt: issuedAt ?? slot };
  const signature = await signer.sign(unlinkTypedData(unlink));
  return { phoneNumber: phone, walletAddress: signer.address, signature, issuedAt: unlink.issuedAt };
}

/** Links and verifies a number. @returns the body of the link request */
export async function linkVerified(
  registry: TestRegistry,
  signer: Signer,
  phone: string,
  lies: Partial<ShieldedAddressBinding> = {},
): Promise<LinkFields> {
  const body = await linkBody(registry, signer, phone, lies);
  const linked = await registry.link(body);
  if (linked.status !== 200) throw new Error(`not linked: ${JSON.stringify(linked.body)}`);
  const verified = await registry.verify(proofOf(registry, signer, phone));
  if (verified.status !== 200) throw new Error(`not verified: ${JSON.stringify(verified.body)}`);
  return body;
}

/** The body of a verify request with the newest code for this number and wallet. */
export const proofOf = ({ codes }: TestRegistry, signer: Signer, phone: string) => ({
  phoneNumber: phone,
  walletAddress: signer.address,
  code: codes.findLast((message) => message.phone === phone && message.wallet === signer.address)?.code ?? "none",
});

export const resolveUrl = ({ url }: Pick<RunningRegistry, "url">, phone: string): string =>
  `${url}/phone/resolve/${encodeURIComponent(phone)}`;
