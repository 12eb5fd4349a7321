// A registry with keys, an adjustable clock and a sender that records the codes. The HTTP layer's tests check signatures. Here a
// digest is the hash of the struct's fields, like an EIP-712 digest.
import { createHash, randomBytes } from "node:crypto";
import type { Address } from "@sotto/protocol";
import {
  type CodeMessage,
  type LinkRequest,
  openRegistry,
  type PhoneRegistry,
  type RegistryKey,
  type RegistryKeys,
  type RegistryOptions,
} from "../../src/index.ts";
import { openRaw, type RawDatabase } from "./raw.ts";

export const NOW = 1_790_000_100_000;
export const POOL: Address = `0x${"5c".repeat(20)}`;
export const SERVICE = "https://registry.example/zk";

export const key = (id: string): RegistryKey => ({ id, key: randomBytes(32) });
const freshKeys = (): RegistryKeys => ({ master: [key("m1")], index: [key("i1")] });
export const wallet = (n: number): Address => `0x${n.toString(16).padStart(40, "a")}`;
export const shielded = (n: number): string => `0x${n.toString(16).padStart(128, "b")}`;
/** Unix seconds of the slot that NOW is in; `offset` slots later. */
export const slot = (offset = 0): number => (Math.floor(NOW / 300_000) + offset) * 300;

const digestOf = (...fields: readonly (string | number)[]): string =>
  `0x${createHash("sha256").update(JSON.stringify(fields)).digest("hex")}`;

export interface World {
  registry: PhoneRegistry;
  readonly options: RegistryOptions;
  /** Current time, ms; tests set it. */
  now: number;
  /** Sent codes, newest last. */
  readonly sent: CodeMessage[];
  /** Whether sending codes fails. */
  senderFails: boolean;
  /** Opens another registry on the same database. */
  open(change?: Partial<RegistryOptions>): Promise<PhoneRegistry>;
  request(phone: string, n: number, change?: Partial<LinkRequest>): LinkRequest;
  unlinkRequest(phone: string, n: number, issuedAt?: number): Parameters<PhoneRegistry["unlink"]>[0];
  /** Links and verifies a number. */
  linked(phone: string, n: number, change?: Partial<LinkRequest>): Promise<void>;
  lastCode(phone: string): string;
  /** The database without the keys. */
  raw(): Promise<RawDatabase>;
  close(): Promise<void>;
}

export async function createWorld(store: string, change: Partial<RegistryOptions> = {}): Promise<World> {
  const sent: CodeMessage[] = [];
  const opened: PhoneRegistry[] = [];
  let raw: Promise<RawDatabase> | undefined;
  const options: RegistryOptions = {
    store,
    keys: freshKeys(),
    chainId: 31337n,
    pool: POOL,
    service: SERVICE,
    clock: () => world.now,
    sender: {
      async send(message) {
        if (world.senderFails) throw new Error(`no route to ${message.phone} for ${message.code}`);
        sent.push(message);
      },
    },
    signatures: {
      async link({ phone, wallet, key, issuedAt = slot() }) {
        return { issuedAt, digest: digestOf("link", phone, wallet, key, issuedAt) };
      },
      async unlink({ phone, wallet, issuedAt }) {
        return { digest: digestOf("unlink", phone, wallet, issuedAt) };
      },
    },
    ...change,
  };
  const open = async (other: Partial<RegistryOptions> = {}) => {
    const registry = await openRegistry({ ...options, ...other });
    opened.push(registry);
    return registry;
  };
  const world: World = {
    registry: undefined as unknown as PhoneRegistry,
    options,
    sent,
    open,
    now: NOW,
    senderFails: false,
    request: (phone, n, other = {}) => ({
      phone,
      wallet: wallet(n),
      key: shielded(n),
      client: `198.51.100.${n % 250}`,
      signature: `0x${n.toString(16).padStart(130, "c")}`,
      ...other,
    }),
    unlinkRequest: (phone, n, issuedAt = slot()) => ({
      phone,
      wallet: wallet(n),
      issuedAt,
      client: "198.51.100.1",
      signature: `0x${"d".repeat(130)}`,
    }),
    async linked(phone, n, other = {}) {
      const request = world.request(phone, n, other);
      const { remaining } = await world.registry.link(request);
      if (remaining.length === 0) return;
      await world.registry.verify({ phone, wallet: request.wallet, code: world.lastCode(phone), client: "typed" });
    },
    lastCode(phone) {
      const message = sent.findLast((one) => one.phone === phone);
      if (message === undefined) throw new Error("no code was sent");
      return message.code;
    },
    raw() {
      raw ??= openRaw(store);
      return raw;
    },
    async close() {
      await (await raw)?.close();
      for (const registry of opened.splice(0)) await registry.close();
    },
  };
  world.registry = await open();
  return world;
}

/** The error that a promise rejects with. */
export async function refused(promise: Promise<unknown>): Promise<Error & { code: string; details: object }> {
  const failure = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof Error)) throw new Error("expected a refusal, got none");
  return failure as Error & { code: string; details: object };
}
