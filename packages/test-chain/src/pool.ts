import type { Call } from "@sotto/chain";
import { type ContractCall, poolInterface } from "@sotto/chain/ethers";
import {
  CHECKPOINT_LEAVES,
  depositAuthorizationNonce,
  depositBlinding,
  FIELD_MODULUS,
  foldQueue,
  NoteTree,
  noteCommitment,
  paymentContext,
  paymentSignals,
  signalsDigest,
  type WithdrawalTerms,
  withdrawalContext,
  withdrawalSignals,
} from "@sotto/protocol";
import { FunctionFragment, type Result } from "ethers";
import type { CallContext, LocalContract } from "./chain.ts";
import { copyState, EMPTY_ROOT, emptyState, type PoolState } from "./pool-state.ts";
import { type LocalToken, TOKEN } from "./token.ts";

export const POOL = `0x${"90".repeat(20)}`;

type Log = { topics: string[]; data: string; address?: string };

/** The pool's functions, by selector. Interface hashes the signatures of all functions each time it looks for one. */
const FUNCTIONS = new Map(
  poolInterface.fragments.filter(FunctionFragment.isFragment).map((fragment) => [fragment.selector, fragment]),
);

function parseCall({ data }: Call): { readonly name: string; readonly args: Result } {
  const fragment = FUNCTIONS.get(data.slice(0, 10));
  if (fragment === undefined) throw new Error(`the pool has no function ${data.slice(0, 10)}`);
  return { name: fragment.name, args: poolInterface.decodeFunctionData(fragment, data) };
}

function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`revert: ${message}`);
}

/**
 * The pool's rules, implemented with the protocol package, without verification of proofs. It emits the events that the
 * contract would emit. test/e2e uses the contract with real proofs.
 */
export class LocalPool implements LocalContract {
  readonly address: string;
  readonly deployment: { readonly chainId: bigint; readonly pool: string };
  readonly smallestDeposit = 1_000n;
  readonly #token: LocalToken;
  #state = emptyState();
  /** Time of the block that is executed. */
  #now = 0;

  constructor(token: LocalToken, address: string = POOL) {
    this.#token = token;
    this.address = address;
    this.deployment = { chainId: 31337n, pool: address };
  }

  /** Number of notes ever queued. */
  get leaves(): number {
    return this.#state.leaves.length;
  }

  get queued(): number {
    return this.#state.leaves.length - this.#state.appended;
  }

  execute(call: Call, context: CallContext): Log[] {
    const { name, args } = parseCall(call);
    this.#now = context.timestamp;
    switch (name) {
      case "deposit":
        return [
          this.#token.transfer(
            context.sender,
            this.address,
            [...args[1]].reduce((sum, amount) => sum + amount, 0n),
          ),
          ...this.#deposit([...args[0]], [...args[1]]),
        ];
      case "depositWithAuthorization":
        return this.#authorized(args, context);
      case "settle":
        return [...args[0]].flatMap((payment: Result) => this.#settle(payment, context));
      case "withdraw":
        return [this.#withdraw(args[0], context)];
      case "append":
        return [this.#append(args)];
      default:
        throw new Error(`unknown call ${name}`);
    }
  }

  #authorized(args: Result, context: CallContext): Log[] {
    const [from, tags, amounts, salt, validAfter, validBefore, signature] = args;
    const [ownerTags, values] = [[...tags] as bigint[], [...amounts] as bigint[]];
    const value = values.reduce((sum, amount) => sum + amount, 0n);
    const nonce = depositAuthorizationNonce({ ownerTags, amounts: values }, salt);
    const message = { from, to: this.address, value, validAfter, validBefore, nonce };
    const moved = this.#token.receiveWithAuthorization(message, signature, { ...context, sender: this.address });
    return [moved, ...this.#deposit(ownerTags, values)];
  }

  #deposit(tags: bigint[], amounts: bigint[]): Log[] {
    return tags.map((ownerTag, i) => {
      const amount = amounts[i]!;
      check(amount >= this.smallestDeposit, "AmountTooSmall");
      const leafIndex = this.#state.leaves.length;
      const blinding = depositBlinding(this.deployment, leafIndex);
      const commitment = noteCommitment({ amount, ownerTag, blinding });
      this.#push(commitment);
      return poolInterface.encodeEventLog("Deposited", [ownerTag, amount, commitment, leafIndex]);
    });
  }

  #settle(payment: Result, context: CallContext): Log[] {
    const signals: bigint[] = [...payment["signals"]];
    const { validUntil, resourceDigest } = payment as unknown as { validUntil: bigint; resourceDigest: string };
    check(
      signals.every((signal) => signal < FIELD_MODULUS),
      "SignalOutOfField",
    );
    const { resourceUrl, root, nullifier, recipientCommitment, changeCommitment, ...shown } = paymentSignals(signals);
    check(paymentContext({ ...this.deployment, validUntil, resourceDigest }) === resourceUrl, "ContextMismatch");
    const skip = this.#state.spent.has(nullifier) || context.timestamp > validUntil || !this.#state.roots.has(root);
    if (skip) return [];
    const digest = signalsDigest(signals);
    this.#state.spent.set(nullifier, digest);
    const leafIndex = this.#push(recipientCommitment);
    this.#push(changeCommitment);
    const { ephemeralX, hiddenCipherX, amountHint, changeHint } = shown;
    const delivered = [ephemeralX, hiddenCipherX, amountHint, changeHint, recipientCommitment, changeCommitment];
    const values = [nullifier, digest, ...delivered, leafIndex];
    return [poolInterface.encodeEventLog("Settled", values)];
  }

  #withdraw(withdrawal: Result, context: CallContext): Log {
    const signals: bigint[] = [...withdrawal["signals"]];
    const named = withdrawalSignals(signals);
    const { amount, nullifiers, changeHint } = named;
    const { recipient, fee, feeRecipient, validUntil } = withdrawal as unknown as WithdrawalTerms;
    const terms = { recipient, fee, feeRecipient, validUntil };
    check(context.timestamp <= validUntil, "WithdrawalExpired");
    check(withdrawalContext({ ...this.deployment, ...terms }) === named.context, "ContextMismatch");
    check(this.#state.roots.has(named.root), "RootUnknown");
    const digest = signalsDigest(signals);
    check(nullifiers[0] !== 0n, "NullifierAlreadySpent");
    for (const nullifier of nullifiers.filter((word) => word !== 0n)) {
      check(!this.#state.spent.has(nullifier), "NullifierAlreadySpent");
      this.#state.spent.set(nullifier, digest);
    }
    const commitment = changeHint === 0n ? 0n : named.commitment;
    const leafIndex = changeHint === 0n ? 0 : this.#push(commitment);
    this.#token.transfer(this.address, recipient, amount - fee);
    this.#token.transfer(this.address, feeRecipient, fee);
    const values = [recipient, digest, nullifiers, amount, fee, feeRecipient, validUntil, changeHint, commitment];
    return poolInterface.encodeEventLog("Withdrawn", [...values, leafIndex]);
  }

  #append(args: Result): Log {
    const state = this.#state;
    const leaves: bigint[] = [...args["leaves"]];
    check(leaves.length >= 1 && leaves.length <= 64, "InvalidLeafCount");
    check(args["sequence"] > state.lastAppended, "UnknownCheckpoint");
    const appended = state.appended + leaves.length;
    const tree = new NoteTree(state.leaves.slice(0, appended));
    check(
      leaves.every((leaf, i) => leaf === state.leaves[state.appended + i]),
      "LeavesMismatch",
    );
    check(tree.root === args["newRoot"], "InvalidAppendProof");
    const startIndex = state.appended;
    const lastAppended = Number(args["sequence"]);
    const chain = leaves.reduce(foldQueue, state.checkpoints[state.lastAppended]!);
    check(chain === state.checkpoints[lastAppended], "LeavesMismatch");
    check(appended >= state.due || leaves.length > CHECKPOINT_LEAVES, "AppendTooShort");
    Object.assign(state, { appended, lastAppended, due: state.leaves.length });
    if (lastAppended === state.checkpoints.length - 1) Object.assign(state, { newestLeaves: 0, newestTime: 0 });
    state.root = tree.root;
    state.roots.add(tree.root);
    return poolInterface.encodeEventLog("Appended", [tree.root, startIndex, leaves.length]);
  }

  #push(commitment: bigint): number {
    const state = this.#state;
    const chain = foldQueue(state.checkpoints.at(-1)!, commitment);
    const begins = state.newestTime !== this.#now || state.newestLeaves === CHECKPOINT_LEAVES;
    if (begins) state.checkpoints.push(chain);
    else state.checkpoints[state.checkpoints.length - 1] = chain;
    state.newestLeaves = begins ? 1 : state.newestLeaves + 1;
    state.newestTime = this.#now;
    return state.leaves.push(commitment) - 1;
  }

  view(call: ContractCall): string {
    const { name, args } = parseCall(call);
    const word = [...args][0];
    const { leaves, appended, lastAppended, due, root, roots, spent, checkpoints, ...newest } = this.#state;
    const ends = [due, lastAppended, checkpoints.length - 1, newest.newestLeaves, newest.newestTime];
    const queue = [leaves.length, appended, ...ends];
    const values: Record<string, unknown> = {
      token: TOKEN,
      smallestDeposit: this.smallestDeposit,
      EMPTY_ROOT,
      root,
      isKnownRoot: roots.has(word),
      isSpent: spent.has(word),
      queue,
      checkpoint: checkpoints[Number(word)],
    };
    return poolInterface.encodeFunctionResult(name, [values[name]]);
  }

  snapshot(): PoolState {
    return copyState(this.#state);
  }

  restore(snapshot: unknown): void {
    this.#state = copyState(snapshot as PoolState);
  }
}
