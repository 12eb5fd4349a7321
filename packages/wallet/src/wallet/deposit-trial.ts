import { type Call, CallReverted, type ChainSource, readNewest } from "@sotto/chain";
import { type DepositRequest, poolInterface, redeemAuthorizationCall } from "@sotto/chain/ethers";
import { isUndeployedSignature, MAX_DEPOSIT_SIGNATURE_BYTES, quoted } from "@sotto/protocol";
import { Interface, Signature } from "ethers";
import { WalletError } from "../errors.ts";

/** Permit2's revert if the token refuses the transfer, after it has checked the signature. */
const TRANSFER_FAILED = new Interface(["error Error(string)"]).encodeErrorResult("Error", ["TRANSFER_FROM_FAILED"]);

/**
 * The deposit with its signature in the form that the token accepts, found by `eth_call`. Only the chain can tell whether the
 * token takes the signatures of contract accounts, and whether this account accepts its own: the code of an account with a
 * delegation can refuse its key. The deposit is not stored yet, so the node must not be able to submit it: the call is that of
 * the pool to the token or to Permit2, without the notes.
 * @param signed what the account returned
 * @throws WalletError DEPOSIT_REFUSED
 */
export async function tryDeposit(
  chain: ChainSource,
  token: string,
  signed: unknown,
  terms: Omit<DepositRequest, "signature">,
): Promise<DepositRequest> {
  let problem: CallReverted | undefined;
  for (const signature of formsOf(signed, terms.from)) {
    const request = { ...terms, signature };
    problem = await findRevert(chain, redeemAuthorizationCall(token, request));
    if (problem === undefined || isUnapproved(request, problem)) return request;
  }
  throw refused(terms.from, `the token would refuse it${problem === undefined ? "" : reasonOf(problem)}`, problem);
}

/**
 * The signature as the account made it and, if that can be a key's in another encoding, as r, s and v of 27 or 28 in 65 bytes.
 * @throws WalletError DEPOSIT_REFUSED
 */
function formsOf(signed: unknown, from: string): string[] {
  if (typeof signed !== "string" || !/^0x(?:[0-9a-f]{2})+$/i.test(signed))
    throw refused(from, "the signature is not bytes as hex with 0x");
  const signature = signed.toLowerCase();
  if (isUndeployedSignature(signature))
    throw refused(from, "it is a contract account that is not deployed yet (EIP-6492): deploy it, then deposit");
  const size = signature.length / 2 - 1;
  if (size > MAX_DEPOSIT_SIGNATURE_BYTES)
    throw refused(from, `the signature has ${size} bytes, and at most ${MAX_DEPOSIT_SIGNATURE_BYTES} are accepted`);
  try {
    return [...new Set([signature, Signature.from(signature).serialized])];
  } catch {
    // Not the signature of a key.
    return [signature];
  }
}

/** Why the deposit would revert now; undefined if it would succeed. A node that is behind cannot refuse it. */
function findRevert(chain: ChainSource, call: Call): Promise<CallReverted | undefined> {
  const attempt = async (node: ChainSource, block?: number): Promise<CallReverted | undefined> => {
    try {
      await node.call(call, block);
      return undefined;
    } catch (error) {
      if (error instanceof CallReverted) return error;
      throw error;
    }
  };
  return readNewest(chain, attempt, (found) => found === undefined);
}

/**
 * Whether Permit2 accepted the signature and lacks only the allowance that the deposit's permit gives. The call cannot include
 * the permit, which the pool submits.
 */
const isUnapproved = ({ permit2 }: DepositRequest, { data }: CallReverted): boolean =>
  permit2?.permit !== undefined && data === TRANSFER_FAILED;

/** The text of a revert, which the token chose. */
function reasonOf({ data }: CallReverted): string {
  try {
    const error = poolInterface.parseError(data);
    return error === null ? "" : `: ${quoted(String(error.args[0] ?? error.name))}`;
  } catch {
    // The data is no error with a text.
    return "";
  }
}

const refused = (from: string, problem: string, cause?: unknown) =>
  new WalletError("DEPOSIT_REFUSED", `the account ${from} signed the deposit, but ${problem}`, {}, { cause });
