// A wallet that pays for chats, for the test and for `npm run ask`: it is new each time, and filled by the faucet of `npm run dev`.
import { type WrapOptions, wrapFetch } from "@sotto/client";
import { type ChargeEvent, prepaid } from "@sotto/prepaid/client";
import { createSeedWords, MemoryStore, type Wallet } from "@sotto/wallet";
import { openWallet } from "@sotto/wallet/node";
import { Wallet as Account } from "ethers";
import type OpenAI from "openai";
import { readDeployment } from "./deployment.ts";
import { payingOpenAi } from "./openai.ts";
import { RULE } from "./price.ts";
import { nodes, service } from "./settings.ts";

const FAUCET = process.env["SOTTO_FAUCET"] ?? "http://127.0.0.1:4024/drip";
/** Amounts of the notes, base units: a payment spends one. The second one also pays for a pack of 100 tokens. */
const NOTES = [1_000_000n, 4_000_000n];
const LIMIT = 5_000_000n;

export interface Payer {
  readonly wallet: Wallet;
  /** Those of the paying fetch. */
  readonly options: WrapOptions;
  readonly openai: OpenAI;
  /** The next charge that becomes known, in the order of the requests' ends. */
  nextCharge(): Promise<ChargeEvent>;
}

/** @param folder for the circuits' files */
export async function openPayer(origin: string, folder: string): Promise<Payer> {
  const account = Account.createRandom();
  const headers = { "content-type": "application/json" };
  const drip = await fetch(FAUCET, { method: "POST", headers, body: JSON.stringify({ address: account.address }) });
  if (!drip.ok) throw new Error(`the faucet ${FAUCET} answers ${drip.status}: ${await drip.text()}`);
  const deployment = await readDeployment(service);
  const store = new MemoryStore();
  const wallet = await openWallet({ deployment, words: createSeedWords(), nodes, service, store, folder });
  await wallet.fund({ amounts: NOTES, account });
  const known: ChargeEvent[] = [];
  const waiting: ((charge: ChargeEvent) => void)[] = [];
  const onCharge = (charge: ChargeEvent): void => {
    const next = waiting.shift();
    if (next === undefined) known.push(charge);
    else next(charge);
  };
  const options: WrapOptions = {
    services: [service],
    maxPerRequest: RULE.cap,
    maxPerDay: LIMIT,
    methods: [prepaid({ maxPerHost: LIMIT, mirrors: [service], onCharge })],
  };
  const nextCharge = () => {
    const charge = known.shift();
    return charge === undefined
      ? new Promise<ChargeEvent>((resolve) => waiting.push(resolve))
      : Promise.resolve(charge);
  };
  return { wallet, options, openai: payingOpenAi(wrapFetch(fetch, wallet, options), `${origin}/v1`), nextCharge };
}
