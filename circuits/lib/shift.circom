pragma circom 2.2.0;

// Moves `in` to the right by distance = bits[0] + 2 bits[1] + 4 bits[2] places and shifts in zeros: out[distance + i] =
// in[i], and every other entry of `out` is 0. There is one product for each entry and bit: an entry stays or moves.
template ShiftRight(n) {
    // Field elements. The caller constrains them.
    signal input in[n];
    // The distance in binary, lowest bit first. The caller constrains each bit to 0 or 1.
    signal input bits[3];
    // The shifted entries. Constrained by [C:shift.end].
    signal output out[n + 7];

    // The entries after 0, 1, 2 and 3 bits. Entries past n - 1 + 2^bits are 0 and not written.
    signal shifted[4][n + 7];
    // For each bit, the entries that it moves; all 0 if the bit is 0.
    signal moving[3][n + 3];
    for (var i = 0; i < n; i++) {
        // [C:shift.start] Before the first bit, nothing has moved.
        shifted[0][i] <== in[i];
    }
    for (var b = 0; b < 3; b++) {
        var step = 1 << b;
        var filled = n + step - 1;
        for (var i = 0; i < filled; i++) {
            // [C:shift.moving] A bit moves every entry or none.
            moving[b][i] <== bits[b] * shifted[b][i];
        }
        for (var i = 0; i < filled + step; i++) {
            var stays = i < filled ? shifted[b][i] - moving[b][i] : 0;
            var arrives = i < step ? 0 : moving[b][i - step];
            // [C:shift.moved] Each place has the entry that stays plus the entry that arrives.
            shifted[b + 1][i] <== stays + arrives;
        }
    }

    // [C:shift.end] The result is the state after the last bit.
    out <== shifted[3];
}
