import type {
  ContractFuture,
  IgnitionModuleBuilder,
  ModuleParameterRuntimeValue,
} from "@nomicfoundation/ignition-core";
import { verifierName } from "../../packages/keys/src/verifiers/verifier-name.ts";

/** Smallest amount of a deposited note: one cent of a token with 6 decimals. It keeps dust out of the tree. */
const DEFAULT_SMALLEST_DEPOSIT = 10_000n;

/** Options for a contract that is deployed only after the first verifier. */
export interface AfterVerifier {
  readonly after: ContractFuture<string>[];
}

/**
 * Deploys the pool with its verifiers and its hasher. A verifier is deployed first: on a chain that is not local,
 * verifiers of development keys revert, so nothing else is deployed.
 * @param token returns the token's address, or a future that deploys the token
 * @param set the key set whose verifiers are deployed: `development` or `ceremony/NAME`
 */
export function poolFutures<Token extends ContractFuture<string> | ModuleParameterRuntimeValue<string>>(
  m: IgnitionModuleBuilder,
  token: (options: AfterVerifier) => Token,
  set = "development",
) {
  // The ids do not depend on the set, because Ignition uses them to resume a deployment.
  const verifier = (circuit: "Payment" | "Withdrawal" | "NoteAppend", options = {}) =>
    m.contract(verifierName(circuit, set), [], { id: `${circuit}Verifier`, ...options });
  const paymentVerifier = verifier("Payment");
  const options: AfterVerifier = { after: [paymentVerifier] };
  const withdrawalVerifier = verifier("Withdrawal", options);
  const noteAppendVerifier = verifier("NoteAppend", options);
  const noteHasher = m.library("PoseidonT4", options);
  const smallestDeposit = m.getParameter("smallestDeposit", DEFAULT_SMALLEST_DEPOSIT);
  const verifiers = [paymentVerifier, withdrawalVerifier, noteAppendVerifier];
  const tokenFuture = token(options);
  const pool = m.contract("ShieldedPool", [tokenFuture, ...verifiers, noteHasher, smallestDeposit], options);
  return { token: tokenFuture, contracts: { pool, paymentVerifier, withdrawalVerifier, noteAppendVerifier } };
}
