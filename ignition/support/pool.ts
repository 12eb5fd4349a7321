import type {
  ContractFuture,
  IgnitionModuleBuilder,
  ModuleParameterRuntimeValue,
} from "@nomicfoundation/ignition-core";
import { verifierName } from "./verifier-name.ts";

/** Smallest deposited note: one cent of a token with 6 decimals. It keeps dust out of the tree. */
const DEFAULT_SMALLEST_DEPOSIT = 10_000n;

/** What every other deployment has to wait for. */
export interface AfterVerifier {
  readonly after: ContractFuture<string>[];
}

/**
 * The pool with its verifiers and its hash, for the token that `token` names or deploys. A verifier comes first: those of
 * development keys refuse a chain that is not local, and then nothing comes after it.
 * @param set whose verifiers are deployed, `development` or `ceremony/NAME`
 */
export function poolFutures<Token extends ContractFuture<string> | ModuleParameterRuntimeValue<string>>(
  m: IgnitionModuleBuilder,
  token: (options: AfterVerifier) => Token,
  set = "development",
) {
  // The ids stay the same whatever the set: a deployment is gone on with by its ids.
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
