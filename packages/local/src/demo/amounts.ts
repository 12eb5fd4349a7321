// The demo's amounts, in base units of the test dollar.
import { formatDecimalAmount, parseDecimalAmount } from "@sotto/protocol";

const DECIMALS = 6;
const dollars = (text: string): bigint => parseDecimalAmount(text, DECIMALS);

/** Balance of the payer's account at the start. */
export const MINTED = dollars("30.00");
export const DEPOSITED = dollars("12.00");
/** The number of notes of the deposit. */
export const NOTES = 8;
/** The deposit whose origin is shown, in two notes: one pays, and one is withdrawn in part. */
export const ADDED = [dollars("9.50"), dollars("0.50")] as const;
/** The withdrawal whose origin is shown to a bank. */
export const CASHED = dollars("5.00");
export const MAX_PER_REQUEST = dollars("0.10");
export const MAX_PER_DAY = dollars("1.00");
/** The payment to the phone number. */
export const TIP = dollars("1.00");
export const WITHDRAWN = dollars("1.50");
/** The relayer's fee for the withdrawal. */
export const RELAYER_FEE = dollars("0.05");

/** Price of a forecast for the next hour, in USDC; paid with prepaid tokens. */
export const HOUR_PRICE = "0.01";
export const HOUR = dollars(HOUR_PRICE);
/** Price of an outlook, in USDC: for each day, and at most; known only once it is written. Charges are multiples of a day. */
export const [DAY_PRICE, OUTLOOK_CAP] = ["0.01", "0.10"];
export const DAY = dollars(DAY_PRICE);
export const OUTLOOK = dollars(OUTLOOK_CAP);
/** Number of tokens of the first pack at a merchant. */
export const PACK_TOKENS = 100;
/** The payer's limit for a day on which it buys a pack. */
export const MAX_WITH_PACK = dollars("3.00");

export const usdc = (amount: bigint): string => {
  const [whole = "0", fraction = ""] = formatDecimalAmount(amount, DECIMALS).split(".");
  return `${whole}.${fraction.padEnd(2, "0")} USDC`;
};
