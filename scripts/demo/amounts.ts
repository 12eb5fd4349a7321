// Every amount of the story, in base units of the test dollar (6 decimals).
import { formatDecimalAmount } from "@sotto/protocol";

const DECIMALS = 6;
const dollars = (cents: bigint) => cents * 10_000n;

/** What the payer owns at the beginning, and what of it goes into the pool. */
export const MINTED = dollars(30_00n);
export const DEPOSITED = dollars(25_00n);
export const FIRST_PRICE = dollars(1_50n);
export const SECOND_PRICE = dollars(2_25n);
export const WITHDRAWN = dollars(3_00n);
/** What the relayer gets for submitting the withdrawal. */
export const RELAYER_FEE = dollars(5n);

export const usdc = (amount: bigint): string => {
  const [whole = "0", fraction = ""] = formatDecimalAmount(amount, DECIMALS).split(".");
  return `${whole}.${fraction.padEnd(2, "0")} USDC`;
};
