pragma circom 2.2.0;

include "lib/bound.circom";
include "lib/note.circom";
include "lib/range.circom";
include "lib/spent_note.circom";

// Up to `inputs` notes are spent; a public amount leaves the pool and the rest becomes one note. It merges, withdraws,
// or both. Signals are described in circuits.json.
template Withdrawal(depth, inputs) {
    // ====================================================================================================== PUBLIC ==
    signal input context;
    signal input amount;
    signal input root;
    signal input nullifiers[inputs];
    signal input commitment;
    signal input changeHint;

    // ===================================================================================================== PRIVATE ==
    signal input enabled[inputs];
    signal input spendingKeys[inputs];
    signal input amounts[inputs];
    signal input blindings[inputs];
    signal input leafIndices[inputs];
    signal input pathChildren[inputs][depth][8];
    signal input outputAmount;
    signal input outputTag;
    signal input outputBlinding;

    // =================================================================================================== STATEMENT ==
    // 1. An input is used or it is not; the first is.
    // [C:withdrawal.first_enabled] a proof that spends nothing shows no nullifier and could be replayed for ever.
    enabled[0] === 1;

    for (var i = 1; i < inputs; i++) {
        // [C:withdrawal.enabled_boolean] with another flag a note worth 0 shows any number as its nullifier, and so
        // blocks somebody else's note.
        enabled[i] * (enabled[i] - 1) === 0;
    }

    // 2. Every used input is a note in the tree that the spender owns, with its nullifier; an unused one is worth 0 and
    //    shows nullifier 0.
    signal roots[inputs];
    signal spentNullifiers[inputs];
    var spent = 0;
    for (var i = 0; i < inputs; i++) {
        // [C:withdrawal.input_range] sums of 64-bit amounts cannot wrap.
        Range(64)(amounts[i]);

        // [C:withdrawal.spent_note] money comes from notes, and from nowhere else.
        (_, roots[i], spentNullifiers[i]) <== SpentNote(depth)(
            spendingKeys[i], amounts[i], blindings[i], leafIndices[i], pathChildren[i]
        );

        // [C:withdrawal.root] the tree of a used note is the pool's.
        enabled[i] * (roots[i] - root) === 0;

        // [C:withdrawal.unused_is_empty] an unused input is in no tree: it must be worth nothing.
        (1 - enabled[i]) * amounts[i] === 0;

        // [C:withdrawal.nullifier] a used note is marked as spent.
        nullifiers[i] === enabled[i] * spentNullifiers[i];

        spent += amounts[i];
    }

    // 3. What goes in comes out.
    // [C:withdrawal.amount_range] a negative amount to the recipient would enlarge the output note.
    Range(64)(amount);

    // [C:withdrawal.output_range] a negative output note would enlarge the amount to the recipient.
    Range(64)(outputAmount);

    // [C:withdrawal.balance] the inputs are worth the public amount and the output note together.
    spent === amount + outputAmount;

    // 4. The output note holds the rest.
    // [C:withdrawal.output_note] it is worth the output amount and no other.
    signal outputNote <== NoteCommitment()(outputAmount, outputTag, outputBlinding);
    commitment === outputNote;

    // 5. The withdrawal is for one recipient, fee, chain, pool and time, and carries one hint for its output note.
    // [C:withdrawal.context] without it a front-runner could send the money to itself.
    Bound()(context);

    // [C:withdrawal.change_hint] without it a front-runner could replace the hint, and so hide the output note.
    Bound()(changeHint);
}

component main { public [context, amount, root, nullifiers, commitment, changeHint] } = Withdrawal(10, 8);
