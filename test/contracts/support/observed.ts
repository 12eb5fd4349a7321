import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import {
  deriveKeys,
  noteCommitment,
  type PaymentInputs,
  preparePayment,
  type ShieldedAddress,
  type WalletKeys,
} from "@sotto/protocol";
import { SMALLEST_DEPOSIT } from "@sotto/test-pool/hardhat/deploy";
import { type PoolWorld, settleArguments } from "@sotto/test-pool/hardhat/pool-world";
import type { TransactionReceipt } from "ethers";

export type Merchant = ShieldedAddress & { readonly wallet: string; readonly keys: WalletKeys };

/** A payer with one note in the tree, from a public deposit. */
export interface Payer {
  readonly keys: WalletKeys;
  readonly depositor: string;
  readonly note: { amount: bigint; ownerTag: bigint; blinding: bigint; spendingKey: bigint; leafIndex: number };
  readonly commitment: bigint;
}

/** Values that the chain must not reveal. */
export interface Secret {
  readonly payer: Payer;
  readonly merchant: Merchant;
  readonly amount: bigint;
  readonly resourceUrl: string;
}

/** Everything that the chain shows of one payment. */
export interface Observed {
  readonly calldata: string;
  readonly logs: readonly { readonly topics: readonly string[]; readonly data: string }[];
  readonly writes: readonly { readonly slot: string; readonly value: string }[];
  readonly executionGas: number;
  readonly prepared: PaymentInputs;
}

export function merchant(world: PoolWorld, seed: number): Merchant {
  const keys = deriveKeys(new Uint8Array(32).fill(seed), world.deployment);
  return { keys, wallet: world.random.address(), encryptionKey: keys.encryptionKey, ownerTag: keys.ownerTag(0) };
}

/** Makes payers that deposit one note each, and appends all of these notes. */
export async function payers(world: PoolWorld, count: number, notes: number): Promise<Payer[][]> {
  const { token, poolAddress, signers } = world.deployed;
  const all: Payer[][] = [];
  for (let i = 0; i < count; i++) {
    const keys = deriveKeys(new Uint8Array(32).fill(100 + i), world.deployment);
    const depositor = signers[10 + i]!;
    const amount = SMALLEST_DEPOSIT * 1000n;
    await token.mint(depositor.address, amount * BigInt(notes));
    await token.connect(depositor).approve(poolAddress, amount * BigInt(notes));
    const own: Payer[] = [];
    for (let j = 1; j <= notes; j++) {
      const ownerTag = keys.ownerTag(j);
      const receipt = await world.mined(world.pool.connect(depositor).deposit([ownerTag], [amount]));
      const { leafIndex, commitment } = depositedIn(world, receipt);
      const note = {
        amount,
        ownerTag,
        blinding: world.depositBlinding(leafIndex),
        spendingKey: keys.spendingKey(j),
        leafIndex,
      };
      if (noteCommitment(note) !== commitment) throw new Error("the deposited note is not the expected one");
      own.push({ keys, depositor: depositor.address, note, commitment });
    }
    all.push(own);
  }
  while (world.queue.size > world.queue.appended) await world.append();
  return all;
}

function depositedIn(world: PoolWorld, receipt: TransactionReceipt): { leafIndex: number; commitment: bigint } {
  const event = receipt.logs.map((log) => world.pool.interface.parseLog(log)).find((one) => one?.name === "Deposited");
  return { leafIndex: Number(event!.args["leafIndex"]), commitment: event!.args["commitment"] };
}

/** Makes a real payment with the protocol package, settles it through a relayer, and records what the chain shows. */
export async function observe(world: PoolWorld, { payer, merchant, amount, resourceUrl }: Secret): Promise<Observed> {
  const { ethers } = world.deployed.connection;
  const prepared = preparePayment({
    ...world.deployment,
    tree: world.tree,
    note: payer.note,
    changeKey: payer.keys.changeKey,
    nonceKey: payer.keys.nonceKey,
    changeTag: payer.keys.ownerTag(0),
    recipient: merchant,
    amount,
    resourceUrl,
    timestamp: (await world.now()) * 1000,
  });
  const { proof } = proveWithTrapdoor("payment", prepared.publicSignals);
  const { validUntil, resourceDigest } = prepared;
  const payment = { proof, signals: [...prepared.publicSignals], validUntil, resourceDigest };
  const relayer = world.deployed.signers[1]!;
  const receipt = await world.mined(world.pool.connect(relayer).settle(settleArguments([payment])));
  const calldata = (await ethers.provider.getTransaction(receipt.hash))!.data;
  const price = ethers.getBytes(calldata).reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), 0);
  return {
    calldata,
    logs: receipt.logs.map(({ topics, data }) => ({ topics, data })),
    writes: await storageWrites(world, receipt.hash),
    executionGas: Number(receipt.gasUsed) - price,
    prepared,
  };
}

interface TraceStep {
  readonly op: string;
  readonly stack: readonly string[];
}

async function storageWrites(world: PoolWorld, hash: string): Promise<Observed["writes"]> {
  const { provider } = world.deployed.connection.ethers;
  const { structLogs } = (await provider.send("debug_traceTransaction", [hash, {}])) as { structLogs: TraceStep[] };
  const word = (value: string | undefined) => `0x${BigInt(value!).toString(16).padStart(64, "0")}`;
  return structLogs
    .filter(({ op }) => op === "SSTORE")
    .map(({ stack }) => ({ slot: word(stack.at(-1)), value: word(stack.at(-2)) }));
}

/** All 32-byte words that the chain shows of a payment, as numbers. */
export function words({ calldata, logs, writes }: Observed): bigint[] {
  const split = (hex: string) => hex.match(/.{64}/g) ?? [];
  const hex = [
    ...split(calldata.slice(10)),
    ...logs.flatMap(({ topics, data }) => [...topics.map((topic) => topic.slice(2)), ...split(data.slice(2))]),
    ...writes.flatMap(({ slot, value }) => [slot.slice(2), value.slice(2)]),
  ];
  return [...new Set(hex)].map((word) => BigInt(`0x${word}`));
}
