pragma circom 2.2.0;

include "lib/bound.circom";
include "lib/merkle.circom";
include "lib/note.circom";
include "lib/nullifier.circom";
include "lib/range.circom";

// Up to eight notes in, a public amount and one note out: merges, withdraws, or both.
template Withdrawal(depth, inputs) {
    // ======================================================================================================== PUBLIC
    signal input context;
    signal input amount;
    signal input root;
    signal input nullifiers[inputs];
    signal input commitment;
    signal input changeHint;

    // ======================================================================================================= PRIVATE
    signal input enabled[inputs];
    signal input spendingKeys[inputs];
    signal input amounts[inputs];
    signal input blindings[inputs];
    signal input leafIndices[inputs];
    signal input pathChildren[inputs][depth][8];
    signal input outputAmount;
    signal input outputTag;
    signal input outputBlinding;

    // 1. The first input is a real note.
    enabled[0] === 1;
    for (var i = 1; i < inputs; i++) {
        enabled[i] * (enabled[i] - 1) === 0;
    }

    signal tags[inputs];
    signal notes[inputs];
    signal indexBits[inputs][3 * depth];
    signal roots[inputs];
    signal ownNullifiers[inputs];
    var total = 0;
    for (var i = 0; i < inputs; i++) {
        Range(64)(amounts[i]);
        tags[i] <== OwnerTag()(spendingKeys[i]);
        notes[i] <== NoteCommitment()(amounts[i], tags[i], blindings[i]);
        indexBits[i] <== Bits(3 * depth)(leafIndices[i]);
        roots[i] <== MerklePath(depth)(notes[i], indexBits[i], pathChildren[i]);
        enabled[i] * (roots[i] - root) === 0;
        (1 - enabled[i]) * amounts[i] === 0;
        ownNullifiers[i] <== Nullifier()(spendingKeys[i], notes[i], leafIndices[i]);
        nullifiers[i] === enabled[i] * ownNullifiers[i];
        total += amounts[i];
    }

    Range(64)(amount);
    Range(64)(outputAmount);
    total === amount + outputAmount;

    signal outputNote <== NoteCommitment()(outputAmount, outputTag, outputBlinding);
    commitment === outputNote;

    Bound()(context);
    Bound()(changeHint);
}

component main { public [context, amount, root, nullifiers, commitment, changeHint] } = Withdrawal(10, 8);
