// A relayer and its store, set up as the service does it.

import { join } from "node:path";
import { connectChain } from "@sotto/chain";
import { paymentSignals, signalsDigest, withdrawalSignals } from "@sotto/protocol";
import { eventually } from "@sotto/test-kit/eventually";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { forgingProver } from "@sotto/test-pool/append";
import { signDeposit } from "@sotto/test-pool/authorization";
import type { Payment, Withdrawal } from "@sotto/test-pool/statements";
import {
  createRelayer,
  LOCAL_RELAYER_CONFIG,
  openStore,
  type Relayer,
  type RelayerOptions,
  type Store,
} from "@sotto/verifier-service";
import { Wallet } from "ethers";
import { RELAYER_KEY, type TestChain } from "./chain.ts";

type Config = RelayerOptions["config"];
type Quota = NonNullable<Parameters<Store["operations"]["enqueueDeposit"]>[1]>[number];

export interface Entry {
  level: "debug" | "info" | "warn" | "error";
  fields: Record<string, unknown>;
  message: string;
}

export interface Service {
  readonly store: Store;
  readonly relayer: Relayer;
  readonly log: Entry[];
  readonly counts: Map<string, number>;
  /** Number of rounds that the relayer has completed. */
  rounds(): number;
}

/** The lease is so long that no relayer loses it on a busy machine; tests call `leaseRunsOut` instead. */
const TEST_CONFIG: Config = { ...LOCAL_RELAYER_CONFIG, pollInterval: 50, append: false, leaseTtl: 600_000 };

export interface ServiceOptions {
  config?: Partial<Config>;
  urls?: readonly string[];
  storeUrl?: string;
  timeout?: number;
  clock?: () => number;
  /** Key of the relayer's account, if not RELAYER_KEY. */
  key?: string;
  /** The relayer's accounts, if not one with this key. */
  accounts?: RelayerOptions["accounts"];
  prover?: typeof forgingProver;
}

/** The services and files of one test, closed and removed together. */
export class Services {
  readonly chain: TestChain;
  readonly #folder = temporaryFolder("relayer");
  readonly #running: Service[] = [];
  #count = 0;

  constructor(chain: TestChain) {
    this.chain = chain;
  }

  newStoreUrl(): string {
    this.#count += 1;
    return `sqlite:${join(this.#folder, `${this.#count}.db`)}`;
  }

  async open(options: ServiceOptions = {}): Promise<Service> {
    const { deployment, node } = this.chain;
    const { pool, token, deploymentBlock } = deployment;
    const counts = new Map<string, number>();
    let rounds = 0;
    const log: Entry[] = [];
    const write = (level: Entry["level"]) => (fields: object, message: string) =>
      void log.push({ level, fields: fields as Record<string, unknown>, message });
    const logger = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
    const clock = options.clock ?? Date.now;
    const parts = {
      store: await openStore({ url: options.storeUrl ?? this.newStoreUrl(), clock }),
      chain: connectChain({ urls: options.urls ?? [node.url], chainId: 31337n, timeoutMs: options.timeout ?? 60_000 }),
    };
    const relayer = createRelayer({
      ...parts,
      accounts: options.accounts ?? [{ signer: new Wallet(options.key ?? RELAYER_KEY) }],
      pool: { chainId: 31337n, pool, token, deploymentBlock },
      config: { ...TEST_CONFIG, ...options.config },
      prover: options.prover ?? forgingProver,
      metrics: {
        count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
        // The relayer sets this gauge at the end of a round.
        gauge: (name) => void (name === "relayer_head_block" && ++rounds),
        accounts: () => undefined,
        leads: () => undefined,
        settledAfter: () => undefined,
      },
      log: logger,
      clock,
    });
    const service = { store: parts.store, relayer, log, counts, rounds: () => rounds };
    this.#running.push(service);
    return service;
  }

  async start(options: ServiceOptions = {}): Promise<Service> {
    const service = await this.open(options);
    service.relayer.start();
    return service;
  }

  async stop(service: Service): Promise<void> {
    this.#running.splice(this.#running.indexOf(service), 1);
    await service.relayer.stop();
    await service.store.close();
  }

  async stopAll(): Promise<void> {
    for (const service of [...this.#running]) await this.stop(service);
  }
}

/** A value as JSON stores it, with bigints as decimal strings. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value, (_, v) => (typeof v === "bigint" ? String(v) : v)));

let ids = 0;
const newId = (kind: string) => `${kind}-${process.pid}-${++ids}`;

/** Reserves and queues a payment as the HTTP routes do after their checks. @returns its id */
export async function enqueue(store: Store, payment: Payment, id = newId("payment")): Promise<string> {
  const nullifier = String(paymentSignals(payment.signals).nullifier);
  const reserved = await store.reservations.reserve({
    id,
    nullifier,
    digest: signalsDigest(payment.signals),
    bundle: JSON.stringify(plain(payment)),
    expiresAt: Date.now() + 3_600_000,
    validUntil: Number(payment.validUntil),
    recipient: "0x01",
    client: "test",
  });
  if (reserved.kind === "taken") throw new Error(reserved.reason);
  const queued = await store.operations.enqueuePayment(reserved.id, JSON.parse);
  if (!("operation" in queued)) throw new Error(queued.kind);
  return queued.operation.id;
}

export async function enqueueWithdrawal(
  store: Store,
  withdrawal: Withdrawal,
  id = newId("withdrawal"),
): Promise<string> {
  const nullifiers = withdrawalSignals(withdrawal.signals).nullifiers.filter((word) => word !== 0n);
  const queued = await store.operations.enqueueWithdrawal({
    id,
    digest: signalsDigest(withdrawal.signals),
    call: plain(withdrawal),
    client: "test",
    validUntil: Number(withdrawal.validUntil),
    nullifiers: nullifiers.map(String),
  });
  if (!("operation" in queued)) throw new Error(queued.kind);
  return queued.operation.id;
}

/** The arguments of a deposit, with the depositor's signature. */
export async function authorizedDeposit(chain: TestChain, depositor: Wallet, amounts: readonly bigint[]) {
  const ownerTags = amounts.map(() => chain.random.field());
  const salt = chain.random.bytes32();
  const validBefore = BigInt((await chain.now()) + 600);
  const from = depositor.address.toLowerCase();
  const deposit = { from, ownerTags, amounts, salt, validAfter: 0n, validBefore };
  const { nonce, signed } = await signDeposit(chain.deployment, depositor, deposit);
  const amount = amounts.reduce((sum, next) => sum + next, 0n);
  return {
    digest: `${from}:${nonce}`,
    call: plain(signed),
    validUntil: Number(validBefore) - 1,
    account: from,
    amount,
  };
}

export async function enqueueDeposit(
  store: Store,
  deposit: Awaited<ReturnType<typeof authorizedDeposit>>,
  quotas: readonly Quota[] = [],
): Promise<string> {
  // Claim a sufficient balance, because an accepted account may lose its tokens before its deposit is sent.
  const balance = 2n ** 64n;
  const next = { id: newId("deposit"), client: "test", ...deposit, balance };
  const queued = await store.operations.enqueueDeposit(next, quotas);
  if (!("operation" in queued)) throw new Error(queued.kind);
  return queued.operation.id;
}

/** Waits for three complete rounds that begin after this call: enough for the relayer to act if it is going to. */
export async function rounds(service: Service): Promise<void> {
  const last = service.rounds() + 4;
  await eventually(async () => service.rounds() >= last);
}

/** Takes the lease from the leader, as if the leader had been silent until the lease expired. */
export async function leaseRunsOut({ leases }: Store): Promise<void> {
  await leases.acquire("relayer", "nobody", 0, () => true);
}
