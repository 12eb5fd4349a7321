import type { History } from "./properties.ts";

/** A seeded bug: a small change of the contracts' source that breaks one property. */
export interface SeededBug {
  readonly name: string;
  /** Number of the property in docs/properties.md that it breaks. */
  readonly property: number;
  /** What an author might have done wrong. */
  readonly mistake: string;
  readonly file: "ShieldedPool.sol" | "NoteTree.sol" | "libraries/NoteQueue.sol";
  /** Statements of the source; they must occur there exactly once. */
  readonly from: string;
  /** The statements in their place; empty if they are removed. */
  readonly to: string;
  /** The kind of history that shows it. */
  readonly history: Exclude<History, "RecordedPool">;
}

const pool = "ShieldedPool.sol";
const tree = "NoteTree.sol";
const queue = "libraries/NoteQueue.sol";

export const SEEDED_BUGS: readonly SeededBug[] = [
  {
    name: "deposit-trusts-the-token",
    property: 1,
    mistake: "a deposit does not compare what arrived with what was asked for",
    file: pool,
    from: "if (received != total) revert WrongAmountReceived(total, received);",
    to: "",
    history: "HostileToken",
  },
  {
    name: "fee-on-top",
    property: 1,
    mistake: "a withdrawal pays its fee in addition to the amount",
    file: pool,
    from: "_send(withdrawal.recipient, amount - withdrawal.fee);",
    to: "_send(withdrawal.recipient, amount);",
    history: "OwnHistory",
  },
  {
    name: "nullifier-not-marked",
    property: 2,
    mistake: "a spent nullifier is not stored",
    file: pool,
    from: "_spent[nullifier] = digest;",
    to: "",
    history: "OwnHistory",
  },
  {
    name: "twice-in-a-batch",
    property: 2,
    mistake: "the first pass spends the nullifier of a batch's first payment only, so later ones may repeat",
    file: pool,
    from: "bytes32 digest = ChosenPayments.add(chosen, payment);\n                _spend(nullifier, digest);",
    to: `bytes32 digest = ChosenPayments.add(chosen, payment);
                if (chosen.length == 2) _spend(nullifier, digest);`,
    history: "OwnHistory",
  },
  {
    name: "leaves-not-compared",
    property: 3,
    mistake: "an append accepts leaves other than those of the queue",
    file: tree,
    from: "if (chain != expectedChain) revert LeavesMismatch(expectedChain, chain);",
    to: "",
    history: "OwnHistory",
  },
  {
    name: "last-append-forgotten",
    property: 3,
    mistake: "an append does not move the checkpoint that the next append continues",
    file: queue,
    from: "state.lastAppended = uint32(sequence);",
    to: "",
    history: "OwnHistory",
  },
  {
    name: "ring-overwritten",
    property: 4,
    mistake: "the queue accepts one checkpoint more than the ring has room for",
    file: queue,
    from: "if (pending + begun >= ringSize) revert INoteTree.QueueFull(pending);",
    to: "if (pending + begun > ringSize) revert INoteTree.QueueFull(pending);",
    history: "OwnHistory",
  },
  {
    name: "old-leaves-left-behind",
    property: 4,
    mistake: "an append may end before an old checkpoint, so that a note can be delayed forever",
    file: tree,
    from: "revert AppendTooShort(state.due, start + count);",
    to: "",
    history: "OwnHistory",
  },
  {
    name: "exit-needs-room",
    property: 5,
    mistake: "a withdrawal without an output note needs room in the queue",
    file: pool,
    from: "if (hasOutput) cursor = _beginPush(1);",
    to: "cursor = _beginPush(1);",
    history: "OwnHistory",
  },
  {
    name: "recipient-not-bound",
    property: 6,
    mistake: "a withdrawal is not compared with the terms that its proof binds",
    file: pool,
    from: "if (expected != actual) revert ContextMismatch(0, expected, actual);",
    to: "",
    history: "OwnHistory",
  },
  {
    name: "fee-to-the-sender",
    property: 6,
    mistake: "the fee goes to the account that sends the transaction",
    file: pool,
    from: "_send(withdrawal.feeRecipient, withdrawal.fee);",
    to: "_send(msg.sender, withdrawal.fee);",
    history: "OwnHistory",
  },
  {
    name: "first-owner-gets-all",
    property: 7,
    mistake: "every note of a deposit belongs to the first owner tag",
    file: pool,
    from: "_push(cursor, commitment);\n            emit Deposited(ownerTags[i], amounts[i], commitment, index);",
    to: `commitment = _NOTE_HASHER.hash([amounts[i], ownerTags[0], _depositBlinding(index)]);
            _push(cursor, commitment);
            emit Deposited(ownerTags[i], amounts[i], commitment, index);`,
    history: "OwnHistory",
  },
  {
    name: "any-root-for-withdrawals",
    property: 8,
    mistake: "a withdrawal may be proved on a tree that its prover made up",
    file: pool,
    from: "if (!isKnownRoot(value)) revert RootUnknown(value);",
    to: "",
    history: "OwnHistory",
  },
  {
    name: "root-not-kept",
    property: 8,
    mistake: "an append does not store its root",
    file: tree,
    from: "_knownRoots[newRoot] = true;",
    to: "",
    history: "OwnHistory",
  },
  {
    name: "withdrawal-never-expires",
    property: 9,
    mistake: "a withdrawal has no deadline",
    file: pool,
    from: "if (block.timestamp > withdrawal.validUntil) revert WithdrawalExpired(withdrawal.validUntil);",
    to: "",
    history: "OwnHistory",
  },
  {
    name: "payment-never-expires",
    property: 9,
    mistake: "a payment has no deadline",
    file: pool,
    from: "if (block.timestamp > payment.validUntil) return uint256(Outcome.Expired);",
    to: "",
    history: "OwnHistory",
  },
  {
    name: "batch-not-verified",
    property: 10,
    mistake: "the proofs of a batch are not verified",
    file: pool,
    from: "if (count > 1) return BatchVerifier.verify(_PAYMENT_VERIFIER, chosen, count);",
    to: "if (count > 1) return true;",
    history: "OwnHistory",
  },
  {
    name: "append-not-verified",
    property: 10,
    mistake: "the proof of an append is not verified",
    file: tree,
    from: "if (!_NOTE_APPEND_VERIFIER.verifyNoteAppend(proof, signals)) revert InvalidAppendProof();",
    to: "",
    history: "OwnHistory",
  },
  {
    name: "skipped-reported-as-settled",
    property: 11,
    mistake: "a skipped payment has the outcome of a settled one",
    file: pool,
    from: "outcomes[i] = uint8(outcome);",
    to: "",
    history: "OwnHistory",
  },
  {
    name: "event-names-the-next-leaf",
    property: 12,
    mistake: "the event of a deposit has the index of the following leaf",
    file: pool,
    from: "_push(cursor, commitment);\n            emit Deposited(ownerTags[i], amounts[i], commitment, index);",
    to: "_push(cursor, commitment);\n            emit Deposited(ownerTags[i], amounts[i], commitment, index + 1);",
    history: "OwnHistory",
  },
];
