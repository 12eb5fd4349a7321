import { Transaction, toQuantity } from "ethers";
import type { SignerClient } from "./client.ts";
import { SignerError } from "./errors.ts";
import type { TransactionSigner, UnsignedTransaction } from "./types.ts";

/** Signs with an account of a remote signer, which is not trusted: it may only sign what it was asked to sign. */
export class RemoteSigner implements TransactionSigner {
  readonly address: string;
  readonly #client: SignerClient;

  /** @param address lower case */
  constructor(client: SignerClient, address: string) {
    this.#client = client;
    this.address = address;
  }

  /**
   * Lets the signer sign.
   * @returns the signed transaction, hex
   * @throws SignerError SIGNER_UNAVAILABLE, SIGNER_REFUSED, SIGNER_MISMATCH
   */
  async signTransaction(transaction: UnsignedTransaction): Promise<string> {
    const raw = await this.#client.ask("eth_signTransaction", [requestOf(transaction, this.address)]);
    const wrong = checkSigned(raw, transaction, this.address);
    if (wrong.length > 0)
      throw new SignerError(
        "SIGNER_MISMATCH",
        `the signer ${this.#client.name} did not sign what it was asked to: it returned another ${wrong.join(", ")}`,
      );
    return (raw as string).toLowerCase();
  }

  /**
   * Checks that the signer responds and has the account's key.
   * @throws SignerError SIGNER_UNAVAILABLE, SIGNER_REFUSED
   */
  async check(): Promise<void> {
    if (!(await this.#client.accounts()).has(this.address))
      throw new SignerError("SIGNER_REFUSED", `the signer ${this.#client.name} has no key of ${this.address}`);
  }
}

/** The request's object. Web3Signer takes the chain id from its own settings; others take it from here. */
function requestOf(transaction: UnsignedTransaction, from: string): Readonly<Record<string, string>> {
  const { to, data, nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas, value, chainId } = transaction;
  return {
    from,
    to,
    data,
    nonce: toQuantity(nonce),
    gas: toQuantity(gasLimit),
    maxFeePerGas: toQuantity(maxFeePerGas),
    maxPriorityFeePerGas: toQuantity(maxPriorityFeePerGas),
    value: toQuantity(value),
    chainId: toQuantity(chainId),
  };
}

/** @returns the names of the fields in which a signer's result differs from what was asked for; empty if it is right */
function checkSigned(raw: unknown, asked: UnsignedTransaction, sender: string): string[] {
  if (typeof raw !== "string" || !/^0x(?:[0-9a-f]{2})+$/i.test(raw)) return ["kind of result"];
  let signed: Transaction;
  try {
    signed = Transaction.from(raw);
  } catch {
    return ["kind of result"];
  }
  const { type, chainId, nonce, to, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = signed;
  const pairs: Readonly<Record<string, readonly [unknown, unknown]>> = {
    type: [type, asked.type],
    "chain id": [chainId, asked.chainId],
    nonce: [nonce, asked.nonce],
    recipient: [to?.toLowerCase(), asked.to.toLowerCase()],
    data: [data, asked.data.toLowerCase()],
    value: [value, asked.value],
    "gas limit": [gasLimit, asked.gasLimit],
    "maximum fee": [maxFeePerGas, asked.maxFeePerGas],
    "maximum priority fee": [maxPriorityFeePerGas, asked.maxPriorityFeePerGas],
    "access list": [signed.accessList?.length ?? 0, 0],
    sender: [signed.from?.toLowerCase(), sender],
  };
  const wrong = Object.entries(pairs).flatMap(([name, [found, wanted]]) => (found === wanted ? [] : [name]));
  // Another encoding of the same transaction would have another hash on chain than the one that is stored.
  return wrong.length === 0 && signed.serialized !== raw.toLowerCase() ? ["encoding"] : wrong;
}
