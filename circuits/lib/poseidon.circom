pragma circom 2.2.0;

include "poseidon_constants.circom";

// circomlib's Poseidon: the same signals and constraints in the same order, so the r1cs is the same. circom orders
// components by name, so the names sort like circomlib's. The difference is in the constants. circomlib passes the
// tables of a width to each component, and its functions contain 16 widths. Here, a component takes the constants of its
// round, and only the widths in use exist. This makes the witness generator of a payment five times smaller and twice as
// fast, and payments compile in little more than half the time.
//
// Derived from circomlib, Copyright 0KIMS association, GPL-3.0.

// The S-box, x^5.
template PoseidonSBox() {
    // A field element. The caller constrains it.
    signal input in;
    // Its fifth power. Constrained by [C:poseidon.sbox].
    signal output out;

    // [C:poseidon.sbox] The powers 2, 4 and 5. The S-box is the only part that is not linear.
    signal square <== in * in;
    signal fourth <== square * square;
    out <== fourth * in;
}

// Adds a full round's constants.
template PoseidonAdd(t, constants) {
    // Field elements. The caller constrains them.
    signal input in[t];
    // The sums. Constrained by [C:poseidon.constants].
    signal output out[t];

    for (var i = 0; i < t; i++) {
        // [C:poseidon.constants] Without the constants, the permutation would map equal lanes to equal lanes.
        out[i] <== in[i] + constants[i];
    }
}

// Multiplies the state by a matrix, after a full round.
template PoseidonMix(t, matrix) {
    // Field elements. The caller constrains them.
    signal input in[t];
    // The product. Constrained by [C:poseidon.mix].
    signal output out[t];

    for (var i = 0; i < t; i++) {
        var lane = 0;
        for (var j = 0; j < t; j++) {
            lane += matrix[j][i] * in[j];
        }
        // [C:poseidon.mix] Each lane depends on every lane.
        out[i] <== lane;
    }
}

// Multiplies the state by a sparse matrix, after a partial round: `round` is the round's constant, the first row, and
// the first column without its first element. The rest of the matrix is the identity.
template PoseidonMixSparse(t, round) {
    // Field elements. The caller constrains them.
    signal input in[t];
    // The product. Constrained by the groups below.
    signal output out[t];

    var first = 0;
    for (var i = 0; i < t; i++) {
        first += round[1 + i] * in[i];
    }
    // [C:poseidon.sparse_first] The first lane depends on every lane.
    out[0] <== first;

    for (var i = 1; i < t; i++) {
        // [C:poseidon.sparse_rest] Each other lane depends on the first one.
        out[i] <== in[i] + in[0] * round[t + i];
    }
}

// One lane of the last product.
template PoseidonMixLast(t, matrix, lane) {
    // Field elements. The caller constrains them.
    signal input in[t];
    // The lane. Constrained by [C:poseidon.last].
    signal output out;

    var sum = 0;
    for (var j = 0; j < t; j++) {
        sum += matrix[j][lane] * in[j];
    }
    // [C:poseidon.last] The output is a lane of the product.
    out <== sum;
}

// The first lanes of the permutation of `initialState` and the inputs.
template PoseidonEx(nInputs, nOuts) {
    // Field elements. The caller constrains them.
    signal input inputs[nInputs];
    // The first lane, a field element. The caller constrains it.
    signal input initialState;
    // The lanes after the permutation. Constrained by [C:poseidon.out].
    signal output out[nOuts];

    var t = nInputs + 1;
    var PARTIAL_ROUNDS[11] = [56, 57, 56, 60, 60, 63, 64, 63, 60, 66, 60];
    var partialRounds = PARTIAL_ROUNDS[t - 2];
    var constants[8][t];
    var partial[partialRounds][2 * t];
    var matrix[t][t];
    // Replaces the matrix after the last full round before the partial ones.
    var entry[t][t];
    // In a template, circom compiles only the branch that is taken, so that a generator has only the tables it uses.
    if (t == 2) {
        constants = POSEIDON_FULL_2();
        partial = POSEIDON_PARTIAL_2();
        matrix = POSEIDON_MATRIX_2();
        entry = POSEIDON_ENTRY_2();
    } else if (t == 3) {
        constants = POSEIDON_FULL_3();
        partial = POSEIDON_PARTIAL_3();
        matrix = POSEIDON_MATRIX_3();
        entry = POSEIDON_ENTRY_3();
    } else if (t == 4) {
        constants = POSEIDON_FULL_4();
        partial = POSEIDON_PARTIAL_4();
        matrix = POSEIDON_MATRIX_4();
        entry = POSEIDON_ENTRY_4();
    } else if (t == 5) {
        constants = POSEIDON_FULL_5();
        partial = POSEIDON_PARTIAL_5();
        matrix = POSEIDON_MATRIX_5();
        entry = POSEIDON_ENTRY_5();
    } else if (t == 6) {
        constants = POSEIDON_FULL_6();
        partial = POSEIDON_PARTIAL_6();
        matrix = POSEIDON_MATRIX_6();
        entry = POSEIDON_ENTRY_6();
    } else if (t == 7) {
        constants = POSEIDON_FULL_7();
        partial = POSEIDON_PARTIAL_7();
        matrix = POSEIDON_MATRIX_7();
        entry = POSEIDON_ENTRY_7();
    } else if (t == 8) {
        constants = POSEIDON_FULL_8();
        partial = POSEIDON_PARTIAL_8();
        matrix = POSEIDON_MATRIX_8();
        entry = POSEIDON_ENTRY_8();
    } else if (t == 12) {
        constants = POSEIDON_FULL_12();
        partial = POSEIDON_PARTIAL_12();
        matrix = POSEIDON_MATRIX_12();
        entry = POSEIDON_ENTRY_12();
    } else {
        // Add the width to packages/keys/src/poseidon/main.ts.
        assert(0);
    }

    component add[8];
    component mix[7];
    component mixLast[nOuts];
    component mixPartial[partialRounds];
    component sboxFull[8][t];
    component sboxPartial[partialRounds];

    // The lanes before the next component.
    var state[t];
    state[0] = initialState;
    for (var i = 0; i < nInputs; i++) {
        state[i + 1] = inputs[i];
    }
    add[0] = PoseidonAdd(t, constants[0]);
    // [C:poseidon.start] The permutation starts with the initial state and the inputs.
    add[0].in <== state;

    state = add[0].out;
    for (var round = 0; round < 8; round++) {
        for (var i = 0; i < t; i++) {
            sboxFull[round][i] = PoseidonSBox();
            // [C:poseidon.full] A full round applies the S-box to every lane.
            sboxFull[round][i].in <== state[i];

            state[i] = sboxFull[round][i].out;
        }
        if (round < 7) {
            add[round + 1] = PoseidonAdd(t, constants[round + 1]);
            // [C:poseidon.full_add] It then adds the constants of the next one.
            add[round + 1].in <== state;

            if (round == 3) {
                mix[round] = PoseidonMix(t, entry);
            } else {
                mix[round] = PoseidonMix(t, matrix);
            }
            // [C:poseidon.full_mix] It then multiplies by the matrix.
            mix[round].in <== add[round + 1].out;

            state = mix[round].out;
        }
        if (round == 3) {
            for (var r = 0; r < partialRounds; r++) {
                sboxPartial[r] = PoseidonSBox();
                // [C:poseidon.partial] A partial round applies the S-box to the first lane.
                sboxPartial[r].in <== state[0];

                state[0] = sboxPartial[r].out + partial[r][0];
                mixPartial[r] = PoseidonMixSparse(t, partial[r]);
                // [C:poseidon.partial_mix] It then adds a constant to this lane and multiplies by the sparse matrix.
                mixPartial[r].in <== state;

                state = mixPartial[r].out;
            }
        }
    }

    for (var i = 0; i < nOuts; i++) {
        mixLast[i] = PoseidonMixLast(t, matrix, i);
        // [C:poseidon.out] The outputs are lanes of the last product.
        mixLast[i].in <== state;
        out[i] <== mixLast[i].out;
    }
}
