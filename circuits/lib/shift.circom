pragma circom 2.2.0;

// in moved to the right by distance = bits[0] + 2 bits[1] + 4 bits[2], zeros shifted in: out[distance + i] = in[i],
// every other out is 0. The bits must be boolean. One product for each entry and bit: an entry either stays or moves.
template ShiftRight(n) {
    signal input in[n];
    signal input bits[3];
    signal output out[n + 7];

    signal byOne[n];
    for (var i = 0; i < n; i++) {
        // [C:shift.by_one] what the lowest bit moves by one place.
        byOne[i] <== bits[0] * in[i];
    }
    signal ones[n + 1];
    for (var i = 0; i <= n; i++) {
        ones[i] <== (i < n ? in[i] - byOne[i] : 0) + (i >= 1 ? byOne[i - 1] : 0);
    }

    signal byTwo[n + 1];
    for (var i = 0; i <= n; i++) {
        // [C:shift.by_two] what the middle bit moves by two places.
        byTwo[i] <== bits[1] * ones[i];
    }
    signal twos[n + 3];
    for (var i = 0; i < n + 3; i++) {
        twos[i] <== (i < n + 1 ? ones[i] - byTwo[i] : 0) + (i >= 2 ? byTwo[i - 2] : 0);
    }

    signal byFour[n + 3];
    for (var i = 0; i < n + 3; i++) {
        // [C:shift.by_four] what the highest bit moves by four places.
        byFour[i] <== bits[2] * twos[i];
    }
    for (var i = 0; i < n + 7; i++) {
        out[i] <== (i < n + 3 ? twos[i] - byFour[i] : 0) + (i >= 4 ? byFour[i - 4] : 0);
    }
}
