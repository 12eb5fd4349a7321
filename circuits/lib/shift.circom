pragma circom 2.2.0;

// in moved to the right by bits[0] + 2 bits[1] + 4 bits[2] places, zeros shifted in: out[distance + i] = in[i], every
// other out is 0. The bits must be boolean. One product for each entry and bit: an entry either stays or moves.
template ShiftRight(n) {
    signal input in[n];
    signal input bits[3];
    signal output out[n + 7];

    // After 0, 1, 2 and 3 bits; entries beyond n - 1 + 2^bits are 0 and not written.
    signal shifted[4][n + 7];
    signal moving[3][n + 3];
    for (var i = 0; i < n; i++) {
        // [C:shift.start] nothing has moved yet.
        shifted[0][i] <== in[i];
    }
    for (var b = 0; b < 3; b++) {
        var step = 1 << b;
        var filled = n + step - 1;
        for (var i = 0; i < filled; i++) {
            // [C:shift.moving] what this bit moves: everything or nothing.
            moving[b][i] <== bits[b] * shifted[b][i];
        }
        for (var i = 0; i < filled + step; i++) {
            var stays = i < filled ? shifted[b][i] - moving[b][i] : 0;
            var arrives = i < step ? 0 : moving[b][i - step];
            // [C:shift.moved] what stays in this place and what arrives there.
            shifted[b + 1][i] <== stays + arrives;
        }
    }

    // [C:shift.end] everything has moved.
    out <== shifted[3];
}
