import type {
  ContractFuture,
  IgnitionModuleBuilder,
  ModuleParameterRuntimeValue,
} from "@nomicfoundation/ignition-core";
import { areDevelopmentKeys } from "./key-set.ts";

/** Smallest deposited note: one cent of a token with 6 decimals. It keeps dust out of the tree. */
export const DEFAULT_SMALLEST_DEPOSIT = 10_000n;

/** What every deployment has to wait for. */
export interface AfterGuard {
  readonly after: ContractFuture<"DevelopmentKeysGuard">[];
}

/**
 * The pool with its verifiers and its hash, for the token that `token` names or deploys. With development keys the first
 * transaction is the guard's, and on a chain that is not local nothing comes after it.
 */
export function poolFutures<Token extends ContractFuture<string> | ModuleParameterRuntimeValue<string>>(
  m: IgnitionModuleBuilder,
  token: (options: AfterGuard) => Token,
) {
  const options: AfterGuard = { after: areDevelopmentKeys() ? [m.contract("DevelopmentKeysGuard")] : [] };
  const paymentVerifier = m.contract("PaymentVerifier", [], options);
  const withdrawalVerifier = m.contract("WithdrawalVerifier", [], options);
  const noteAppendVerifier = m.contract("NoteAppendVerifier", [], options);
  const noteHasher = m.library("PoseidonT4", options);
  const smallestDeposit = m.getParameter("smallestDeposit", DEFAULT_SMALLEST_DEPOSIT);
  const verifiers = [paymentVerifier, withdrawalVerifier, noteAppendVerifier];
  const tokenFuture = token(options);
  const pool = m.contract("ShieldedPool", [tokenFuture, ...verifiers, noteHasher, smallestDeposit], options);
  return { token: tokenFuture, contracts: { pool, paymentVerifier, withdrawalVerifier, noteAppendVerifier } };
}
