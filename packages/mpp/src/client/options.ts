import { quoted } from "@sotto/protocol";
import type { MppReceipt } from "../core/receipt.ts";
import { MppClientError } from "./errors.ts";

/** Options of `mpp`. */
export interface MppOptions {
  /**
   * Sends `Accept-Payment: sotto/charge` with each request. It tells every server, also those that charge nothing, that the
   * client can pay with sotto: a mark that distinguishes it from others. Needed only for servers that offer a choice of
   * methods on request. Default: false.
   */
  readonly acceptPayment?: boolean | undefined;
  /** Called after each response to a payment of this method, unless the response is an error without a receipt. */
  readonly onReceipt?: ((received: ReceivedReceipt) => void) | undefined;
}

/** A receipt in a response. Nobody signed it; the wallet's own receipts prove the payment. */
export interface ReceivedReceipt {
  /** The URL that was paid for. */
  readonly resource: string;
  /** Transaction that settled the payment, as the wallet found it on the chain. */
  readonly txSignature: string;
  /** The server's receipt; undefined if there is a problem. */
  readonly receipt: MppReceipt | undefined;
  /** missing: the response has none. malformed: it is not one of this method. foreign: it is for another payment. */
  readonly problem: "missing" | "malformed" | "foreign" | undefined;
}

/** @throws MppClientError MPP_OPTION_INVALID */
export function parseMppOptions(options: MppOptions): MppOptions {
  const given = Object(options) as MppOptions;
  const wrong = (what: string) => new MppClientError("MPP_OPTION_INVALID", what);
  const unknown = Object.keys(given).find((name) => !["acceptPayment", "onReceipt"].includes(name));
  if (unknown !== undefined) throw wrong(`there is no option ${quoted(unknown)}`);
  const { acceptPayment = false, onReceipt } = given;
  if (typeof acceptPayment !== "boolean") throw wrong("acceptPayment must be true or false");
  if (onReceipt !== undefined && typeof onReceipt !== "function") throw wrong("onReceipt must be a function");
  return { acceptPayment, onReceipt };
}
