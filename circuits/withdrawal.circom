pragma circom 2.2.0;

include "lib/domains.circom";
include "lib/hash.circom";
include "lib/note.circom";
include "lib/polynomial.circom";
include "lib/range.circom";
include "lib/spent_note.circom";

// Spends up to `inputs` notes. A public amount leaves the pool, and the rest becomes one note. So it merges notes,
// withdraws them, or both. circuits.json describes every input as callers see it.
//
// Amount, root, nullifiers and commitment are private, because each public signal costs the contract a scalar
// multiplication. Their hash commits the prover to them. The contract hashes it with its own signals to the challenge z
// and computes y, the value at z of the polynomial with its own values as coefficients. The circuit computes the same
// value. If one of its values is another, z must be a root of a nonzero polynomial of degree at most 10, which was fixed
// before z was known: docs/protocol.md, "The withdrawal challenge".
template Withdrawal(depth, inputs) {
    // ====================================================================================================== PUBLIC ==
    // Hash of amount, root, nullifiers and commitment. Constrained in 5.
    signal input statementHash;
    // The challenge z, a field element. The contract computes it; it binds the proof to context and change hint.
    signal input challenge;
    // y, the value of the statement's polynomial at z. Constrained in 5.
    signal input evaluation;

    // ===================================================================================================== PRIVATE ==
    // Token base units that leave the pool, 64 bits. Constrained in 3 and 5.
    signal input amount;
    // Root of the tree that contains the spent notes. Constrained in 2 and 5; the contract checks that it is known.
    signal input root;
    // 1 for an input that is used, otherwise 0. Constrained in 1.
    signal input enabled[inputs];
    // Spending key of each note, a field element. Constrained in 2.
    signal input spendingKeys[inputs];
    // Token base units of each note, 64 bits. Constrained in 2.
    signal input amounts[inputs];
    // Blinding of each note, a field element. Constrained in 2.
    signal input blindings[inputs];
    // Index of each note in the tree, 3 * depth bits. Constrained in 2.
    signal input leafIndices[inputs];
    // For each note, the eight children of every node on its path, leaves first. Constrained in 2.
    signal input pathChildren[inputs][depth][8];
    // Token base units of the output note, 64 bits. Constrained in 3.
    signal input outputAmount;
    // Owner tag of the output note, a field element. Free: the wallet chooses it.
    signal input outputTag;
    // Blinding of the output note, a field element. Free: the wallet chooses it.
    signal input outputBlinding;

    // =================================================================================================== STATEMENT ==
    // 1. Each input is either used or unused, and the first one is used.
    // [C:withdrawal.first_enabled] A proof that spends nothing shows no nullifier, so it could be replayed forever.
    enabled[0] === 1;

    for (var i = 1; i < inputs; i++) {
        // [C:withdrawal.enabled_boolean] With another flag, a note worth 0 could show any number as its nullifier and
        // so block another owner's note.
        enabled[i] * (enabled[i] - 1) === 0;
    }

    // 2. Every used input is a note in the tree that the spender owns, and shows its nullifier. An unused input is
    //    worth 0 and shows nullifier 0.
    // Root of the tree that contains each note, as computed from its path. Constrained below.
    signal roots[inputs];
    // Nullifier that each input shows, 0 for an unused input. Constrained below.
    signal nullifiers[inputs];
    // Nullifier of each note, before the flag is applied. Constrained below.
    signal spentNullifiers[inputs];
    var spent = 0;
    for (var i = 0; i < inputs; i++) {
        // [C:withdrawal.input_range] A sum of 64-bit amounts cannot wrap around p.
        Range(64)(amounts[i]);

        // [C:withdrawal.spent_note] The money comes from notes, and from nowhere else.
        (_, roots[i], spentNullifiers[i]) <== SpentNote(depth)(
            spendingKeys[i], amounts[i], blindings[i], leafIndices[i], pathChildren[i]
        );

        // [C:withdrawal.root] A used note is in the pool's tree.
        enabled[i] * (roots[i] - root) === 0;

        // [C:withdrawal.unused_is_empty] An unused input is in no tree, so it must be worth nothing.
        (1 - enabled[i]) * amounts[i] === 0;

        // [C:withdrawal.nullifier] A used note shows its nullifier, which marks it as spent.
        nullifiers[i] <== enabled[i] * spentNullifiers[i];

        spent += amounts[i];
    }

    // 3. The value of the inputs equals the value of the outputs.
    // [C:withdrawal.amount_range] A negative amount would enlarge the output note.
    Range(64)(amount);

    // [C:withdrawal.output_range] A negative output note would enlarge the amount.
    Range(64)(outputAmount);

    // [C:withdrawal.balance] The inputs are worth the public amount and the output note together.
    spent === amount + outputAmount;

    // 4. The output note contains the rest.
    // [C:withdrawal.output_note] The output note is worth the output amount, not more.
    signal outputNote <== NoteCommitment()(outputAmount, outputTag, outputBlinding);

    // 5. Amount, root, nullifiers and commitment are those of the contract.
    var statement[inputs + 3];
    statement[0] = amount;
    statement[1] = root;
    for (var i = 0; i < inputs; i++) {
        statement[2 + i] = nullifiers[i];
    }
    statement[inputs + 2] = outputNote;
    // [C:withdrawal.hash] Without it, the prover could choose its values after the challenge, so that they fit.
    signal hash <== Hash(inputs + 3, DOMAIN_WITHDRAWAL())(statement);
    statementHash === hash;

    // [C:withdrawal.evaluation] The contract evaluated the same polynomial, at a point that nobody could choose.
    signal evaluated <== Polynomial(inputs + 3)(statement, challenge);
    evaluation === evaluated;
}

component main { public [statementHash, challenge, evaluation] } = Withdrawal(10, 8);
