import { isError, type Signer, type TransactionReceipt } from "ethers";
import { ChainError } from "../errors.ts";
import { poolInterface } from "./abi.ts";
import type { ContractCall } from "./calls.ts";

/**
 * Sends a call from an account that pays the gas and waits until it is mined. For scripts and tests: it does not manage nonces,
 * so a retry may send the call twice.
 * @param confirmations number of blocks to wait for, including the one with the transaction
 * @throws ChainError TRANSACTION_FAILED
 */
export async function sendCall(
  signer: Signer,
  { to, data }: ContractCall,
  confirmations = 1,
): Promise<TransactionReceipt> {
  try {
    // A call that begins a checkpoint costs more than one that adds to the newest, as the estimate may have.
    const gas = await signer.estimateGas({ to, data });
    const sent = await signer.sendTransaction({ to, data, gasLimit: gas + gas / 4n });
    const receipt = await sent.wait(confirmations);
    if (receipt?.status === 1) return receipt;
    throw new ChainError("TRANSACTION_FAILED", `transaction ${receipt?.hash ?? ""} to ${to} was not executed`);
  } catch (cause) {
    if (!isError(cause, "CALL_EXCEPTION")) throw cause;
    const reason = cause.reason ?? (cause.data && poolInterface.parseError(cause.data)?.name) ?? cause.shortMessage;
    throw new ChainError("TRANSACTION_FAILED", `the call to ${to} fails: ${reason}`, {}, { cause });
  }
}
