/** A wallet that pays for 402 bodies, on a chain in memory; in Node and in a page. */

import { appendCall } from "@sotto/chain/ethers";
import { signBinding } from "@sotto/client";
import { buildInstructions, parseInstructions, randomSeed } from "@sotto/protocol";
import { LocalChain, SENDER } from "@sotto/test-chain/chain";
import { LocalPool, POOL } from "@sotto/test-chain/pool";
import { LocalToken } from "@sotto/test-chain/token";
import { MemoryStore, NoteAppender, type Store, Wallet, type WalletProver } from "@sotto/wallet";
import { Wallet as Account } from "ethers";

const SERVICE = "https://pay.example/zk";
const PRICE = 1_000n;
/** Seconds after which the wallet's notes are older than a slot of prepared payments. */
const SLOT_SECONDS = 120;

export interface BenchPayer {
  /** Prepares the next payment. */
  prepare(): Promise<void>;
  /** Pays. @returns milliseconds from the body of a 402 to the complete bundle, including the journal */
  pay(): Promise<number>;
  close(): Promise<void>;
}

/** The pool in memory checks no proofs, so appends need none. */
const NO_PROVER: WalletProver = {
  artifacts: { set: "development" },
  prove: async (_, { newRoot, challenge, evaluation }) => ({
    proof: Array.from({ length: 8 }, () => "0"),
    publicSignals: [newRoot, challenge, evaluation].map(String),
  }),
};

/** @param notes how many payments it can make, at most 64 */
export async function openBenchPayer(prover: WalletProver, store: Store, notes: number): Promise<BenchPayer> {
  const token = new LocalToken(SENDER, 1_000_000_000n);
  const pool = new LocalPool(token);
  const chain = new LocalChain([pool, token]);
  const clock = () => chain.time * 1000;
  const place = { chain, chainId: 31337n, pool: POOL, deploymentBlock: 0 };
  const open = (own: Store, its: WalletProver) =>
    Wallet.open({ ...place, seed: randomSeed(), store: own, prover: its, finality: 0, clock });
  const merchant = await open(new MemoryStore(), NO_PROVER);
  const { binding, signature } = await signBinding(merchant, Account.createRandom());
  const payer = await open(store, prover);
  const { approve, deposit } = await payer.deposit({ amounts: Array.from({ length: notes }, () => 5n * PRICE) });
  chain.mine(approve, deposit);
  const appender = await NoteAppender.open({ ...place, store: new MemoryStore(), prover: NO_PROVER });
  while (pool.queued > 0) chain.mine(appendCall(POOL, (await appender.prepare()).append));
  await payer.scan();
  chain.time += SLOT_SECONDS;
  chain.mine();
  let count = 0;
  const bodyOf = (resource: string): string =>
    JSON.stringify(
      buildInstructions({
        binding,
        signature,
        price: PRICE,
        asset: token.address,
        decimals: 6,
        serviceUrl: SERVICE,
        resource,
        now: clock(),
      }),
    );
  const { wallet, key: shieldedAddress } = binding;
  const terms = { recipient: { wallet, shieldedAddress }, amount: PRICE, service: SERVICE };
  return {
    prepare: async () => void (await payer.prepare(terms)),
    async pay() {
      count += 1;
      const body = bodyOf(`https://data.example/articles/${count}`);
      const start = performance.now();
      const { payment, metadata } = parseInstructions(JSON.parse(body));
      const { wallet: paid, shieldedAddress: address } = payment.recipient;
      const recipient = { wallet: paid, shieldedAddress: address };
      const amount = BigInt(payment.amountBaseUnits);
      await payer.pay({ recipient, amount, resourceUrl: metadata.resource, service: SERVICE });
      return performance.now() - start;
    },
    close: () => payer.close(),
  };
}
