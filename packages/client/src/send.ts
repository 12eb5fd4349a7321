import { isError, type Signer, type TransactionReceipt } from "ethers";
import { poolInterface } from "./chain/abi.ts";
import type { Call } from "./chain/source.ts";
import { WalletError } from "./errors.ts";

/**
 * Sends a call from an account with gas and waits for it: a helper for scripts and tests. A service that must never
 * send twice keeps its own nonces.
 * @param confirmations blocks to wait for, its own included
 * @throws WalletError TRANSACTION_FAILED
 */
export async function sendCall(signer: Signer, { to, data }: Call, confirmations = 1): Promise<TransactionReceipt> {
  try {
    const receipt = await (await signer.sendTransaction({ to, data })).wait(confirmations);
    if (receipt?.status === 1) return receipt;
    throw new WalletError("TRANSACTION_FAILED", `transaction ${receipt?.hash ?? ""} to ${to} was not executed`);
  } catch (cause) {
    if (!isError(cause, "CALL_EXCEPTION")) throw cause;
    const reason = cause.reason ?? (cause.data && poolInterface.parseError(cause.data)?.name) ?? cause.shortMessage;
    throw new WalletError("TRANSACTION_FAILED", `the call to ${to} fails: ${reason}`, {}, { cause });
  }
}
