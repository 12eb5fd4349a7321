/** A wallet that pays for 402 bodies, on a chain in memory; in Node and in a page. */

import { signBinding } from "@sotto/client";
import { buildInstructions, parseInstructions } from "@sotto/protocol";
import type { Store, WalletOptions } from "@sotto/wallet";
import { Wallet as Account } from "ethers";
import { World } from "../../../wallet/test/support/world.ts";

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

/** @param notes how many payments it can make, at most 64 */
export async function openBenchPayer(
  prover: NonNullable<WalletOptions["prover"]>,
  store: Store,
  notes: number,
): Promise<BenchPayer> {
  const world = new World();
  const { binding, signature } = await signBinding(await world.wallet(), Account.createRandom());
  const amounts = Array.from({ length: notes }, () => 5n * PRICE);
  const payer = await world.funded(amounts, { prover, store });
  world.chain.time += SLOT_SECONDS;
  world.chain.mine();
  let count = 0;
  const bodyOf = (resource: string): string =>
    JSON.stringify(
      buildInstructions({
        binding,
        signature,
        price: PRICE,
        asset: world.token.address,
        decimals: 6,
        serviceUrl: SERVICE,
        resource,
        now: world.clock(),
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
