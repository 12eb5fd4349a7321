// Every amount of the story, in base units of the test dollar (6 decimals).
import { formatDecimalAmount, parseDecimalAmount } from "@sotto/protocol";

export const DECIMALS = 6;
export const dollars = (text: string): bigint => parseDecimalAmount(text, DECIMALS);

/** What the agent owns at the beginning, and what of it goes into the pool, in how many notes. */
export const MINTED = dollars("20.00");
export const DEPOSITED = dollars("12.00");
export const NOTES = 8;
/** What the agent may spend on requests. */
export const MOST_PER_REQUEST = dollars("0.10");
export const MOST_PER_DAY = dollars("1.00");
/** What it sends to the phone number. */
export const TIP = dollars("1.00");
export const WITHDRAWN = dollars("1.50");
/** What the relayer gets for submitting the withdrawal. */
export const RELAYER_FEE = dollars("0.05");

export const usdc = (amount: bigint): string => {
  const [whole = "0", fraction = ""] = formatDecimalAmount(amount, DECIMALS).split(".");
  return `${whole}.${fraction.padEnd(2, "0")} USDC`;
};
